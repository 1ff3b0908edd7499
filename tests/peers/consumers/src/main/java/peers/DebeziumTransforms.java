package peers;

import io.debezium.data.Envelope;
import io.debezium.transforms.ExtractNewRecordState;
import java.util.Map;
import org.apache.iceberg.connect.transforms.DebeziumTransform;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;

/** A transform that makes a flat row of an event of Debezium's, as sink connectors use it. */
final class DebeziumTransforms implements Consumer {
    private final Converters converters;
    private final Transformation<SinkRecord> transform;

    private DebeziumTransforms(Converters converters, Transformation<SinkRecord> transform) {
        this.converters = converters;
        this.transform = transform;
    }

    /** Debezium's own, for any sink. */
    static DebeziumTransforms unwrap(Converters converters) {
        ExtractNewRecordState<SinkRecord> transform = new ExtractNewRecordState<>();
        transform.configure(Map.of("delete.tombstone.handling.mode", "rewrite", "add.fields", "op,table,source.ts_ms"));
        return new DebeziumTransforms(converters, transform);
    }

    /** That of Iceberg's sink. */
    static DebeziumTransforms iceberg(Converters converters) {
        DebeziumTransform<SinkRecord> transform = new DebeziumTransform<>();
        transform.configure(Map.of());
        return new DebeziumTransforms(converters, transform);
    }

    @Override
    public Object take(Request request) {
        SchemaAndValue key = Converters.read(converters.keys(), request.key());
        SchemaAndValue value = Converters.read(converters.values(), request.value());
        boolean tombstone = value.value() == null;
        if (!tombstone && (value.schema() == null || !Envelope.isEnvelopeSchema(value.schema()))) {
            // The transform hands on untouched what it does not take for an event.
            throw new IllegalArgumentException("not an envelope: " + (value.schema() == null ? null : value.schema().name()));
        }
        SinkRecord event = new SinkRecord("topic", 0, key.schema(), key.value(), value.schema(), value.value(), 0);
        SinkRecord row = transform.apply(event);
        if (row == null || row.value() == null) {
            return Map.of();
        }
        return Map.of("value", Converters.write(converters.values(), new SchemaAndValue(row.valueSchema(), row.value())));
    }
}
