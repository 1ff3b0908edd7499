package peers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.seatunnel.api.source.Collector;
import org.apache.seatunnel.api.table.catalog.CatalogTable;
import org.apache.seatunnel.api.table.catalog.CatalogTableUtil;
import org.apache.seatunnel.api.table.type.BasicType;
import org.apache.seatunnel.api.table.type.SeaTunnelDataType;
import org.apache.seatunnel.api.table.type.SeaTunnelRow;
import org.apache.seatunnel.api.table.type.SeaTunnelRowType;
import org.apache.seatunnel.format.json.canal.CanalJsonDeserializationSchema;

/** SeaTunnel's format {@code canal_json}, with all columns declared as strings. */
final class SeaTunnelCanal implements Format {
    private final Map<List<String>, CanalJsonDeserializationSchema> schemas = new HashMap<>();

    @Override
    public List<Format.Change> changes(Request request) throws Exception {
        List<SeaTunnelRow> read = new ArrayList<>();
        schemas.computeIfAbsent(request.columns(), SeaTunnelCanal::schema)
                .deserialize(request.value(), new Collector<>() {
                    @Override
                    public void collect(SeaTunnelRow row) {
                        read.add(row);
                    }

                    @Override
                    public Object getCheckpointLock() {
                        return this;
                    }
                });
        return read.stream().map(row -> change(request.columns(), row)).toList();
    }

    private static CanalJsonDeserializationSchema schema(List<String> columns) {
        SeaTunnelDataType<?>[] types = new SeaTunnelDataType<?>[columns.size()];
        Arrays.fill(types, BasicType.STRING_TYPE);
        SeaTunnelRowType row = new SeaTunnelRowType(columns.toArray(String[]::new), types);
        CatalogTable table = CatalogTableUtil.getCatalogTable("canal", row);
        return CanalJsonDeserializationSchema.builder(table).build();
    }

    private static Format.Change change(List<String> columns, SeaTunnelRow row) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (int place = 0; place < columns.size(); place++) {
            values.put(columns.get(place), row.getField(place));
        }
        return new Format.Change(row.getRowKind().shortString(), values);
    }
}
