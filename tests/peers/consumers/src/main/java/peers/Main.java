package peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/** Hands each message on stdin to the consumer it names; answers with one line each. */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what a library prints must not be taken for an answer
        Map<String, Consumer> consumers = consumers();
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            Request request = JSON.readValue(line, Request.class);
            answers.println(JSON.writeValueAsString(answer(consumers.get(request.consumer()), request)));
            answers.flush();
        }
    }

    private static Map<String, Consumer> consumers() {
        Map<String, String> lenient = Map.of("ignore-parse-errors", "true");
        // The option's name promises more: it only says that the row lies under "payload".
        Map<String, String> payload = Map.of("schema-include", "true");
        Converters schemas = Converters.of(true);
        Map<String, Consumer> consumers = new HashMap<>();
        consumers.put("canal-flat-message", new CanalFlatMessage());
        consumers.put("connect-avro", new ConnectAvro());
        consumers.put("connect-json", new ConnectJson(schemas));
        consumers.put("connect-json-without-schemas", new ConnectJson(Converters.of(false)));
        consumers.put("debezium-unwrap", DebeziumTransforms.unwrap(schemas));
        consumers.put("iceberg-debezium", DebeziumTransforms.iceberg(schemas));
        consumers.put("flink-canal-json", new FlinkFormat("canal-json", Map.of()));
        consumers.put("flink-canal-json-lenient", new FlinkFormat("canal-json", lenient));
        consumers.put("flink-maxwell-json", new FlinkFormat("maxwell-json", Map.of()));
        consumers.put("flink-debezium-json", new FlinkFormat("debezium-json", payload));
        consumers.put("flink-debezium-json-lenient",
                new FlinkFormat("debezium-json", Map.of("schema-include", "true", "ignore-parse-errors", "true")));
        return consumers;
    }

    private static Map<String, Object> answer(Consumer consumer, Request request) {
        try {
            return Map.of("taken", consumer.take(request));
        } catch (Exception refusal) {
            return Map.of("refused", Refusal.of(refusal));
        }
    }
}
