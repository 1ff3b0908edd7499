import com.alibaba.fastjson2.JSON;
import com.alibaba.fastjson2.JSONArray;
import com.alibaba.fastjson2.JSONObject;
import com.alibaba.fastjson2.JSONWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The restart level: a consumer that survives being killed. Its checkpoint is a file of its own. */
final class Restarts {
    /** Thrown where the runner stops the consumer: nothing happens after it. */
    private static final class Stopped extends RuntimeException {}

    /** What a step makes durable. */
    private static final class Points {
        final JSONArray labels = new JSONArray();
        final int stop;

        Points(int stop) {
            this.stop = stop;
        }

        void reached(String label) {
            labels.add(label);
            if (labels.size() == stop) {
                throw new Stopped();
            }
        }
    }

    private record Waiting(String partition, int offset, Testee.Event event) {}

    private static Restarts current;
    private final Path database;
    private final Path checkpoint;
    private final Map<String, Map<List<Object>, Object>> tables = new LinkedHashMap<>();
    private final Set<String> ddls = new HashSet<>();
    private final Map<String, Long> resolved = new HashMap<>();
    private final Map<String, Integer> next = new LinkedHashMap<>();
    private long stored;
    private List<Waiting> waiting = new ArrayList<>();

    /** Answers a line. A start forgets everything of earlier lives but the directory. */
    static JSONObject answer(JSONObject request, boolean skips) {
        JSONObject answer = JSONObject.of("case", request.getString("case"), "step", request.getIntValue("step"));
        Points points = new Points(request.getIntValue("stop"));
        try {
            if (request.getString("do").equals("start")) {
                current = skips ? null : new Restarts(request);
                return skips ? answer.fluentPut("skipped", "not implemented") : answer.fluentPut("offsets", current.next);
            }
            if (request.getString("do").equals("deliver")) {
                current.deliver(request.getJSONArray("messages"), points);
            } else {
                answer.put("tables", current.rows(request, points));
            }
        } catch (Stopped stop) {
            answer.put("stopped", true);
        } catch (IOException | RuntimeException error) {
            answer.put("error", error.toString());
        }
        return answer.fluentPut("points", points.labels);
    }

    private Restarts(JSONObject request) throws IOException {
        database = Path.of(request.getString("directory"), "database.jsonl");
        checkpoint = Path.of(request.getString("directory"), "checkpoint.json");
        for (String line : Files.exists(database) ? Files.readAllLines(database) : List.<String>of()) {
            JSONObject change = JSON.parseObject(line);
            apply(new Testee.Event(change.getJSONObject("event"), change.getList("key", String.class), change.getBoolean("removes")));
        }
        if (Files.exists(checkpoint)) {
            JSONObject content = JSON.parseObject(Files.readString(checkpoint));
            stored = content.getLongValue("resolved");
            content.getJSONObject("offsets").forEach((name, offset) -> next.put(name, (Integer) offset));
        }
        request.getJSONObject("partitions").forEach((topic, count) -> {
            for (int number = 0; number < (Integer) count; number++) {
                resolved.put(topic + "/" + number, stored);
            }
        });
    }

    private void deliver(JSONArray messages, Points points) throws IOException {
        for (Object one : messages) {
            JSONObject message = (JSONObject) one;
            String partition = message.getString("topic") + "/" + message.getIntValue("partition");
            int offset = message.getIntValue("offset");
            receive(new Waiting(partition, offset, Testee.event(message)), points);
            next.put(partition, offset + 1);
            release(resolved.values().stream().min(Comparator.naturalOrder()).orElseThrow(), points);
        }
    }

    private void receive(Waiting one, Points points) throws IOException {
        Testee.Event event = one.event();
        if (event.is("kind", "resolved")) {
            resolved.merge(one.partition(), event.ts(), Math::max);
        } else if (event.ts() > stored) {
            waiting.add(one);
        } else if (event.is("kind", "ddl") && !ddls.contains(identity(event))) {
            write(event, points); // its resolved-ts came before it
        }
    }

    /** Applies what waits up to a resolved-ts, and stores it together with the offsets. */
    private void release(long ts, Points points) throws IOException {
        if (ts <= stored) {
            return;
        }
        applyUntil(ts, points);
        stored = ts;
        store(JSONObject.of("resolved", ts, "offsets", offsets()), points);
    }

    /** Of each partition the first message with an event that waits. */
    private Map<String, Integer> offsets() {
        Map<String, Integer> offsets = new LinkedHashMap<>(next);
        waiting.forEach(one -> offsets.merge(one.partition(), one.offset(), Math::min));
        return offsets;
    }

    private void store(JSONObject content, Points points) throws IOException {
        Path whole = checkpoint.resolveSibling("checkpoint.new");
        Files.writeString(whole, content.toJSONString());
        Files.move(whole, checkpoint, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        points.reached("commit");
    }

    private void applyUntil(long ts, Points points) throws IOException {
        List<Testee.Event> ready = new ArrayList<>();
        List<Waiting> rest = new ArrayList<>();
        for (Waiting one : waiting) {
            if (one.event().ts() > ts) {
                rest.add(one);
                continue;
            }
            ready.add(one.event());
            if (one.event().fields().get("before") != null) {
                ready.add(new Testee.Event(one.event().fields(), one.event().key(), true));
            }
        }
        waiting = rest;
        ready.sort(Testee.ORDER);
        for (Testee.Event event : ready) {
            write(event, points);
        }
    }

    private void write(Testee.Event event, Points points) throws IOException {
        JSONObject change = JSONObject.of("event", event.fields(), "key", event.key(), "removes", event.removes());
        String line = JSON.toJSONString(change, JSONWriter.Feature.WriteMapNullValue) + "\n";
        Files.writeString(database, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        apply(event);
        points.reached("effect");
    }

    private void apply(Testee.Event event) {
        if (event.is("kind", "ddl")) {
            ddls.add(identity(event));
        }
        String name = event.fields().getString("schema") + "." + event.fields().getString("table");
        Testee.apply(tables.computeIfAbsent(name, unknown -> new LinkedHashMap<>()), event);
    }

    /** Equal for all copies of a DDL. */
    private static String identity(Testee.Event ddl) {
        return List.of("commit_ts", "schema", "table", "query").stream().map(ddl.fields()::getString).toList().toString();
    }

    private JSONObject rows(JSONObject request, Points points) throws IOException {
        if (request.getLong("resolved_ts") == null) {
            applyUntil(Long.MAX_VALUE, points); // no further resolved event comes
        }
        JSONObject requested = new JSONObject();
        for (String name : request.getList("tables", String.class)) {
            requested.put(name, List.copyOf(tables.getOrDefault(name, Map.of()).values()));
        }
        return requested;
    }
}
