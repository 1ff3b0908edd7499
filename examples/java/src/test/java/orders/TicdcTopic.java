package orders;

import static org.junit.jupiter.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives each test a new Kafka topic, filled as TiCDC would fill it. It lets a running
 * {@code ticdc-producer serve} do so; TICDC_PRODUCER_SERVER is its URL, TICDC_PRODUCER_TOKEN its token.
 */
public final class TicdcTopic implements BeforeEachCallback, AfterEachCallback {
  private static final String SERVER =
      Optional.ofNullable(System.getenv("TICDC_PRODUCER_SERVER")).orElse("http://127.0.0.1:8642");
  private static final ObjectMapper JSON = new ObjectMapper();
  private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Map<String, Object> run = new LinkedHashMap<>();
  private JsonNode made;

  /** A topic with the changes of SQL. */
  public static TicdcTopic ofSql(String sql) {
    return new TicdcTopic().with("sql", sql);
  }

  /** A topic with a shipped or an uploaded scenario. */
  public static TicdcTopic ofScenario(String name) {
    return new TicdcTopic().with("scenario", name);
  }

  /** Sets a key of the run: protocol, options, partitions, dispatch, traps, seed. */
  public TicdcTopic with(String key, Object value) {
    run.put(key, value);
    return this;
  }

  public String bootstrap() {
    return made.get("bootstrap").asText();
  }

  public String name() {
    return made.get("topics").get(0).asText();
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    made = request("POST", "/v1/runs?wait=120", run);
    if (!made.get("error").isNull() || made.get("topics").isEmpty()) {
      fail("ticdc-producer: " + made);
    }
  }

  @Override
  public void afterEach(ExtensionContext context) throws Exception {
    request("DELETE", "/v1/runs/" + made.get("id").asText(), Map.of());
  }

  /** Fails unless the rows, by SCHEMA.TABLE, are those that a correct consumer has. */
  public void assertRows(Map<String, ? extends List<? extends Map<String, ?>>> tables) throws Exception {
    String path = "/v1/runs/" + made.get("id").asText() + "/comparison";
    JsonNode found = request("POST", path, Map.of("tables", tables));
    if (!found.get("ok").asBoolean()) {
      fail("the rows differ from the expected ones\n"
          + StreamSupport.stream(found.get("differences").spliterator(), false)
              .map(JsonNode::asText).collect(Collectors.joining("\n")));
    }
  }

  private JsonNode request(String method, String path, Object body) throws IOException, InterruptedException {
    HttpRequest.Builder call = HttpRequest.newBuilder(URI.create(SERVER + path))
        .header("Content-Type", "application/json")
        .method(method, BodyPublishers.ofString(JSON.writeValueAsString(body)));
    Optional.ofNullable(System.getenv("TICDC_PRODUCER_TOKEN"))
        .ifPresent(token -> call.header("Authorization", "Bearer " + token));
    var answer = http.send(call.build(), BodyHandlers.ofString());
    if (answer.statusCode() >= 300) {
      fail(method + " " + path + ": " + answer.statusCode() + " " + answer.body());
    }
    return answer.body().isEmpty() ? JSON.nullNode() : JSON.readTree(answer.body());
  }
}
