package peers;

import io.debezium.data.Envelope;
import io.debezium.transforms.ExtractNewRecordState;
import java.util.Map;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.sink.SinkRecord;

/** Debezium's transform that makes a flat row of an event, as sink connectors use it. */
final class DebeziumUnwrap implements Consumer {
    private final Converters converters;
    private final ExtractNewRecordState<SinkRecord> transform = new ExtractNewRecordState<>();

    DebeziumUnwrap(Converters converters) {
        this.converters = converters;
        transform.configure(Map.of("delete.tombstone.handling.mode", "rewrite", "add.fields", "op,table,source.ts_ms"));
    }

    @Override
    public Object take(Request request) {
        SchemaAndValue key = Converters.read(converters.keys(), request.key());
        SchemaAndValue value = Converters.read(converters.values(), request.value());
        if (value.schema() == null || !Envelope.isEnvelopeSchema(value.schema())) {
            // The transform hands on untouched what it does not take for an event.
            throw new IllegalArgumentException("not an envelope: " + (value.schema() == null ? null : value.schema().name()));
        }
        SinkRecord event = new SinkRecord("topic", 0, key.schema(), key.value(), value.schema(), value.value(), 0);
        SinkRecord row = transform.apply(event);
        return Map.of("value", Converters.write(converters.values(), new SchemaAndValue(row.valueSchema(), row.value())));
    }
}
