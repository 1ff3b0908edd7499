import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import com.alibaba.fastjson2.annotation.JSONField;
import com.alibaba.otter.canal.protocol.FlatMessage;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A testee of `ticdc-producer conformance`: Canal-JSON, parsed by canal's own message class. */
public final class Testee {
    private static final Map<String, String> OPERATIONS = Map.of("INSERT", "insert", "UPDATE", "update", "DELETE", "delete");

    /** Canal's message with the fields of TiDB's extension. */
    public static final class Message extends FlatMessage {
        @JSONField(name = "_tidb")
        public Map<String, Object> extension = Map.of();

        long extensionTs(String name) {
            return extension.get(name) instanceof Number ts ? ts.longValue() : 0;
        }
    }

    /** An event in the form of the answers, and its key columns. */
    record Event(JSONObject fields, List<String> key, boolean removes) {
        long ts() {
            return fields.getLongValue("commit_ts");
        }

        boolean is(String key, String value) {
            return value.equals(fields.getString(key));
        }
    }

    /** By commit-ts: first removes old rows, then writes new ones, then applies DDLs. */
    static final Comparator<Event> ORDER = Comparator.comparingLong(Event::ts)
            .thenComparing(event -> event.is("kind", "ddl"))
            .thenComparing(event -> !event.removes());

    public static void main(String[] arguments) throws IOException {
        var buffered = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        System.setOut(System.err); // output of libraries must not be mixed with the answers
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (PrintStream answers = new PrintStream(buffered, false, StandardCharsets.UTF_8)) {
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                JSONObject request = JSON.parseObject(line);
                JSONObject reply = request.containsKey("hello") ? request : answer(request);
                answers.println(JSON.toJSONString(reply, JSONWriter.Feature.WriteMapNullValue));
                if (!requests.ready()) { // lines that arrive together are answered together
                    answers.flush();
                }
            }
        }
    }

    private static JSONObject answer(JSONObject request) {
        JSONObject answer = JSONObject.of("case", request.getString("case"));
        JSONObject options = request.containsKey("options") ? request.getJSONObject("options") : new JSONObject();
        boolean compressed = options.containsKey("large-message-handle-compression");
        boolean skips = compressed || request.containsKey("claims") || request.getBooleanValue("follows_ddl") || !"canal-json".equals(request.getString("protocol"));
        if (request.getString("level").equals("restart")) {
            return Restarts.answer(request, skips);
        }
        if (skips) {
            return answer.fluentPut("skipped", "not implemented");
        }
        try {
            return request.getString("level").equals("decode")
                    ? answer.fluentPut("events", List.of(event(request).fields()))
                    : answer.fluentPut("tables", tables(request));
        } catch (RuntimeException error) {
            return answer.fluentPut("error", error.toString());
        }
    }

    static Event event(JSONObject record) {
        byte[] value = Base64.getDecoder().decode(record.getString("value"));
        Message message = JSON.parseObject(new String(value, StandardCharsets.UTF_8), Message.class);
        if (message.getType().equals("TIDB_WATERMARK")) {
            return new Event(JSONObject.of("kind", "resolved", "commit_ts", message.extensionTs("watermarkTs")), List.of(), false);
        }
        JSONObject event = JSONObject.of("kind", message.getIsDdl() ? "ddl" : "row");
        event.put("commit_ts", Math.max(message.extensionTs("commitTs"), message.getEs() << 18));
        event.put("schema", message.getDatabase());
        event.put("table", message.getTable());
        if (message.getIsDdl()) {
            event.put("query", message.getSql());
            event.put("type", message.getType());
            return new Event(event, List.of(), false);
        }
        String operation = OPERATIONS.get(message.getType());
        Map<String, Object> row = image(message.getData(), message);
        event.put("op", operation);
        event.put("before", operation.equals("delete") ? row : image(message.getOld(), message));
        event.put("after", operation.equals("delete") ? null : row);
        event.put("handle_key_only", message.extension.get("onlyHandleKey") != null);
        return new Event(event, message.getPkNames() == null ? List.of() : message.getPkNames(), false);
    }

    /** Without rows there is no image; TiCDC 5.1 to 5.3 sends a list of one null for the old row of an insert. */
    private static Map<String, Object> image(List<Map<String, String>> rows, Message message) {
        boolean hasRow = rows != null && rows.get(0) != null;
        Map<String, Object> image = new LinkedHashMap<>(hasRow ? rows.get(0) : Map.of());
        image.replaceAll((name, text) -> value((String) text, message.getMysqlType().get(name)));
        return hasRow ? image : null;
    }

    /** Bytes arrive as ISO-8859-1 characters; values that are not UTF-8 are returned in Base64. */
    private static Object value(String text, String type) {
        if (text == null || !type.replaceFirst("\\(.*", "").matches(".*(blob|binary)")) {
            return text;
        }
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        String read = new String(bytes, StandardCharsets.UTF_8);
        boolean isText = Arrays.equals(bytes, read.getBytes(StandardCharsets.UTF_8));
        return isText ? read : JSONObject.of("b64", Base64.getEncoder().encodeToString(bytes));
    }

    /** The rows of a topic. */
    private static JSONObject tables(JSONObject request) {
        List<Event> events = new ArrayList<>();
        request.getJSONArray("messages").forEach(record -> events.add(event((JSONObject) record)));
        List.copyOf(events).forEach(event -> events.add(new Event(event.fields(), event.key(), true)));
        events.sort(ORDER);
        Long until = request.getLong("resolved_ts");
        Map<String, Map<List<Object>, Object>> tables = new LinkedHashMap<>();
        request.getJSONArray("tables").forEach(name -> tables.put((String) name, new LinkedHashMap<>()));
        for (Object loaded : request.containsKey("snapshot") ? request.getJSONArray("snapshot") : List.of()) {
            JSONObject table = (JSONObject) loaded; // the consumer has these from a dump
            List<String> key = table.getList("key", String.class);
            Map<List<Object>, Object> rows = tables.get(table.getString("name"));
            table.getJSONArray("rows").forEach(row -> rows.put(keyOf(key, (JSONObject) row), row));
        }
        for (Event event : events) {
            String name = event.fields().getString("schema") + "." + event.fields().getString("table");
            if (tables.containsKey(name) && (until == null || event.ts() <= until)) {
                apply(tables.get(name), event);
            }
        }
        JSONObject requested = new JSONObject();
        tables.forEach((name, rows) -> requested.put(name, rows.values()));
        return requested;
    }

    private static List<Object> keyOf(List<String> key, Map<String, Object> row) {
        return key.stream().sorted().map(row::get).toList();
    }

    static void apply(Map<List<Object>, Object> rows, Event event) {
        if (event.is("type", "ERASE") || event.is("type", "TRUNCATE")) {
            rows.clear();
        } else if (event.is("kind", "row")) {
            Map<String, Object> before = event.fields().getJSONObject("before");
            Map<String, Object> after = event.fields().getJSONObject("after");
            Map<String, Object> old = new LinkedHashMap<>(after == null ? Map.of() : after);
            if (event.removes() && before != null) { // an update's old image may contain changed columns only
                old.putAll(before);
                rows.remove(keyOf(event.key(), old));
            }
            if (!event.removes() && after != null) {
                rows.put(keyOf(event.key(), after), after);
            }
        }
    }
}
