package peers;

import java.util.HashMap;
import java.util.Map;

/** Kafka Connect's JsonConverter, there and back. */
final class ConnectJson implements Consumer {
    private final Converters converters;

    ConnectJson(Converters converters) {
        this.converters = converters;
    }

    /** Key and value as the same converter writes what it has read. */
    @Override
    public Object take(Request request) {
        Map<String, byte[]> back = new HashMap<>();
        back.put("key", Converters.write(converters.keys(), Converters.read(converters.keys(), request.key())));
        back.put("value", Converters.write(converters.values(), Converters.read(converters.values(), request.value())));
        return back;
    }
}
