package peers;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.seatunnel.api.serialization.DeserializationSchema;
import org.apache.seatunnel.api.source.Collector;
import org.apache.seatunnel.api.table.catalog.CatalogTable;
import org.apache.seatunnel.api.table.catalog.CatalogTableUtil;
import org.apache.seatunnel.api.table.type.BasicType;
import org.apache.seatunnel.api.table.type.SeaTunnelDataType;
import org.apache.seatunnel.api.table.type.SeaTunnelRow;
import org.apache.seatunnel.api.table.type.SeaTunnelRowType;
import org.apache.seatunnel.format.json.canal.CanalJsonDeserializationSchema;
import org.apache.seatunnel.format.json.debezium.DebeziumJsonDeserializationSchema;
import org.apache.seatunnel.format.json.maxwell.MaxWellJsonDeserializationSchema;

/** A format of SeaTunnel, with all columns declared as strings. */
final class SeaTunnelFormat implements Format {
    private final Function<CatalogTable, DeserializationSchema<SeaTunnelRow>> format;
    private final Map<List<String>, DeserializationSchema<SeaTunnelRow>> schemas = new HashMap<>();

    private SeaTunnelFormat(Function<CatalogTable, DeserializationSchema<SeaTunnelRow>> format) {
        this.format = format;
    }

    static SeaTunnelFormat canal() {
        return new SeaTunnelFormat(table -> CanalJsonDeserializationSchema.builder(table).build());
    }

    /** With the option {@code debezium_record_include_schema}: the row lies under {@code payload}. */
    static SeaTunnelFormat debezium() {
        return new SeaTunnelFormat(table -> new DebeziumJsonDeserializationSchema(table, false, true));
    }

    static SeaTunnelFormat maxwell() {
        return new SeaTunnelFormat(table -> MaxWellJsonDeserializationSchema.builder(table).build());
    }

    @Override
    public List<Format.Change> changes(Request request) throws Exception {
        List<SeaTunnelRow> read = new ArrayList<>();
        schemas.computeIfAbsent(request.columns(), this::schema)
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

    private DeserializationSchema<SeaTunnelRow> schema(List<String> columns) {
        SeaTunnelDataType<?>[] types = new SeaTunnelDataType<?>[columns.size()];
        Arrays.fill(types, BasicType.STRING_TYPE);
        SeaTunnelRowType row = new SeaTunnelRowType(columns.toArray(String[]::new), types);
        return format.apply(CatalogTableUtil.getCatalogTable("table", row));
    }

    private static Format.Change change(List<String> columns, SeaTunnelRow row) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (int place = 0; place < columns.size(); place++) {
            values.put(columns.get(place), row.getField(place));
        }
        return new Format.Change(row.getRowKind().shortString(), values);
    }
}
