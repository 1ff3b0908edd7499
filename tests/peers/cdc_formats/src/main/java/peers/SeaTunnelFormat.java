package peers;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.ArrayList;
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
import org.apache.seatunnel.api.table.type.DecimalType;
import org.apache.seatunnel.api.table.type.SeaTunnelDataType;
import org.apache.seatunnel.api.table.type.SeaTunnelRow;
import org.apache.seatunnel.api.table.type.SeaTunnelRowType;
import org.apache.seatunnel.format.json.canal.CanalJsonDeserializationSchema;
import org.apache.seatunnel.format.json.debezium.DebeziumJsonDeserializationSchema;
import org.apache.seatunnel.format.json.maxwell.MaxWellJsonDeserializationSchema;

/** A format of SeaTunnel. */
final class SeaTunnelFormat implements Format {
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Function<CatalogTable, DeserializationSchema<SeaTunnelRow>> format;
    private final Types types;
    private final Map<SeaTunnelRowType, DeserializationSchema<SeaTunnelRow>> schemas = new HashMap<>();

    /** The types with which a user declares the columns of a message. */
    private interface Types {
        SeaTunnelDataType<?> of(byte[] message, String column) throws IOException;
    }

    private SeaTunnelFormat(Function<CatalogTable, DeserializationSchema<SeaTunnelRow>> format, Types types) {
        this.format = format;
        this.types = types;
    }

    static SeaTunnelFormat canal() {
        return new SeaTunnelFormat(
                table -> CanalJsonDeserializationSchema.builder(table).build(), SeaTunnelFormat::text);
    }

    /**
     * With the option {@code debezium_record_include_schema}: the row lies under {@code payload}.
     *
     * <p>A column declared as a string is null if the message has a number, so each column has the type of its value.
     */
    static SeaTunnelFormat debezium() {
        return new SeaTunnelFormat(
                table -> new DebeziumJsonDeserializationSchema(table, false, true), SeaTunnelFormat::typeOfValue);
    }

    static SeaTunnelFormat maxwell() {
        return new SeaTunnelFormat(
                table -> MaxWellJsonDeserializationSchema.builder(table).build(), SeaTunnelFormat::text);
    }

    private static SeaTunnelDataType<?> text(byte[] message, String column) {
        return BasicType.STRING_TYPE;
    }

    private static SeaTunnelDataType<?> typeOfValue(byte[] message, String column) throws IOException {
        if (message == null) { // a tombstone
            return BasicType.STRING_TYPE;
        }
        JsonNode payload = JSON.readTree(message).path("payload");
        JsonNode after = payload.path("after").path(column);
        JsonNode value = after.isNull() || after.isMissingNode() ? payload.path("before").path(column) : after;
        if (value.isIntegralNumber()) {
            return value.canConvertToLong() ? BasicType.LONG_TYPE : new DecimalType(20, 0);
        }
        if (value.isNumber()) {
            return BasicType.DOUBLE_TYPE;
        }
        return value.isBoolean() ? BasicType.BOOLEAN_TYPE : BasicType.STRING_TYPE;
    }

    @Override
    public List<Format.Change> changes(Request request) throws Exception {
        List<SeaTunnelRow> read = new ArrayList<>();
        schemas.computeIfAbsent(rowType(request), this::schema)
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

    private SeaTunnelRowType rowType(Request request) throws IOException {
        List<SeaTunnelDataType<?>> declared = new ArrayList<>();
        for (String column : request.columns()) {
            declared.add(types.of(request.value(), column));
        }
        return new SeaTunnelRowType(
                request.columns().toArray(String[]::new), declared.toArray(SeaTunnelDataType<?>[]::new));
    }

    private DeserializationSchema<SeaTunnelRow> schema(SeaTunnelRowType row) {
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
