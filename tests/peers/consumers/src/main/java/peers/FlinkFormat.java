package peers;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.connector.format.ProjectableDecodingFormat;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.types.Row;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.apache.flink.util.UserCodeClassLoader;

/** One of Flink's formats, found and called as a table on the Kafka connector does. */
final class FlinkFormat implements Consumer {
    private static final ClassLoader CLASSES = FlinkFormat.class.getClassLoader();

    private final DeserializationFormatFactory factory;
    private final Map<String, String> options;
    private final Map<String, Reader> readers = new HashMap<>();

    FlinkFormat(String name, Map<String, String> options) {
        this.factory = FactoryUtil.discoverFactory(CLASSES, DeserializationFormatFactory.class, name);
        this.options = options;
    }

    @Override
    public Object take(Request request) throws Exception {
        Reader reader = readers.get(request.columns());
        if (reader == null) {
            reader = reader(request.columns());
            readers.put(request.columns(), reader);
        }
        return reader.changes(request.value());
    }

    private Reader reader(String columns) throws Exception {
        DecodingFormat<DeserializationSchema<RowData>> format =
                factory.createDecodingFormat(null, Configuration.fromMap(options));
        DataType row = TypeConversions.fromLogicalToDataType(LogicalTypeParser.parse("ROW<" + columns + ">", CLASSES));
        DeserializationSchema<RowData> schema =
                ((ProjectableDecodingFormat<DeserializationSchema<RowData>>) format)
                        .createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, row);
        schema.open(new Context());
        DataStructureConverter<Object, Object> external = DataStructureConverters.getConverter(row);
        external.open(CLASSES);
        return new Reader(schema, external, DataType.getFieldNames(row));
    }

    /** A format made ready for one table. */
    private record Reader(
            DeserializationSchema<RowData> schema, DataStructureConverter<Object, Object> external, List<String> names) {
        List<Change> changes(byte[] message) throws Exception {
            List<RowData> read = new ArrayList<>();
            schema.deserialize(message, new ListCollector<>(read));
            return read.stream().map(row -> change((Row) external.toExternal(row))).toList();
        }

        private Change change(Row row) {
            Map<String, Object> values = new LinkedHashMap<>();
            for (int place = 0; place < names.size(); place++) {
                values.put(names.get(place), plain(row.getField(place)));
            }
            return new Change(row.getKind().shortString(), values);
        }

        private static Object plain(Object value) {
            boolean inJson = value instanceof Number && !(value instanceof java.math.BigDecimal);
            if (value == null || inJson || value instanceof Boolean || value instanceof byte[]) {
                return value;
            }
            return value instanceof java.math.BigDecimal decimal ? decimal.toPlainString() : value.toString();
        }
    }

    /** A row of the changelog; {@code kind} is one of +I, -U, +U, -D. */
    record Change(String kind, Map<String, Object> row) {}

    private static final class Context implements DeserializationSchema.InitializationContext {
        @Override
        public MetricGroup getMetricGroup() {
            return new UnregisteredMetricsGroup();
        }

        @Override
        public UserCodeClassLoader getUserCodeClassLoader() {
            return SimpleUserCodeClassLoader.create(CLASSES);
        }
    }
}
