package peers;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Hands each message on stdin to the format it names; answers with one line each. */
public final class Main {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what a library prints must not be read as an answer
        Map<String, Format> formats = Map.of(
                "paimon-canal", PaimonFormat.canal(),
                "paimon-maxwell", PaimonFormat.maxwell(),
                "seatunnel-canal", SeaTunnelFormat.canal(),
                "seatunnel-debezium", SeaTunnelFormat.debezium(),
                "seatunnel-maxwell", SeaTunnelFormat.maxwell());
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            Request request = JSON.readValue(line, Request.class);
            answers.println(JSON.writeValueAsString(answer(formats.get(request.consumer()), request)));
            answers.flush();
        }
    }

    private static Map<String, Object> answer(Format format, Request request) {
        try {
            return Map.of("taken", format.changes(request));
        } catch (Exception | LinkageError refusal) {
            Throwable cause = refusal;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            return Map.of("refused", Map.of(
                    "type", cause.getClass().getName(), "message", String.valueOf(cause.getMessage())));
        }
    }
}
