package peers;

import io.apicurio.registry.utils.converter.avro.AvroData;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

/** Kafka Connect's data of a value in Avro, as a published Avro converter makes it. */
final class ConnectAvro implements Consumer {
    private static final int HEAD = 5;
    private final AvroData data = new AvroData(100);
    private final JsonConverter json = new JsonConverter();

    ConnectAvro() {
        json.configure(Map.of("schemas.enable", "true", "decimal.format", "NUMERIC"), false);
    }

    /** The value as Connect's JSON; its Avro schema is in place of columns. */
    @Override
    public Object take(Request request) throws Exception {
        Schema schema = new Schema.Parser().parse(request.columns());
        byte[] value = request.value();
        BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(value, HEAD, value.length - HEAD, null);
        Object record = new GenericDatumReader<>(schema).read(null, decoder);
        if (!decoder.isEnd()) {
            throw new IllegalStateException("bytes after the record");
        }
        SchemaAndValue read = data.toConnectData(schema, record);
        ((Struct) read.value()).validate();
        return Map.of("value", json.fromConnectData("topic", read.schema(), read.value()));
    }
}
