package peers;

import java.util.Map;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;

/** Kafka Connect's pair of JSON converters, for keys and for values. */
record Converters(JsonConverter keys, JsonConverter values) {
    static Converters of(boolean schemas) {
        return new Converters(converter(schemas, true), converter(schemas, false));
    }

    private static JsonConverter converter(boolean schemas, boolean key) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", String.valueOf(schemas)), key);
        return converter;
    }

    /** A message's part as a connector gets it, after the check that a connector may make. */
    static SchemaAndValue read(JsonConverter converter, byte[] part) {
        SchemaAndValue read = converter.toConnectData("topic", part);
        if (read.value() instanceof Struct struct) {
            struct.validate();
        }
        return read;
    }

    static byte[] write(JsonConverter converter, SchemaAndValue read) {
        return converter.fromConnectData("topic", read.schema(), read.value());
    }
}
