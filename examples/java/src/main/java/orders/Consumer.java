package orders;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer of TiCDC's Canal-JSON. */
public final class Consumer {
  private static final ObjectMapper JSON = new ObjectMapper();
  private final Map<String, Map<List<String>, Map<String, String>>> tables = new HashMap<>();

  /** The rows of each table, after all messages that the topic has now. */
  public static Map<String, List<Map<String, String>>> consume(String bootstrap, String topic)
      throws IOException {
    var consumer = new Consumer();
    var none = new ByteArrayDeserializer();
    try (var kafka = new KafkaConsumer<>(Map.of("bootstrap.servers", bootstrap), none, none)) {
      var partitions = kafka.partitionsFor(topic).stream()
          .map(one -> new TopicPartition(topic, one.partition())).toList();
      var ends = kafka.endOffsets(partitions);
      kafka.assign(partitions);
      kafka.seekToBeginning(partitions);
      while (partitions.stream().anyMatch(one -> kafka.position(one) < ends.get(one))) {
        for (var message : kafka.poll(Duration.ofSeconds(1))) {
          consumer.apply(message.value());
        }
      }
    }
    return consumer.tables.entrySet().stream()
        .collect(Collectors.toMap(Map.Entry::getKey, one -> List.copyOf(one.getValue().values())));
  }

  /** Changes the rows as a message says. */
  void apply(byte[] message) throws IOException {
    JsonNode change = JSON.readTree(message);
    if (change.get("isDdl").asBoolean()) {
      return;
    }
    String name = change.get("database").asText() + "." + change.get("table").asText();
    var rows = tables.computeIfAbsent(name, ignored -> new HashMap<>());
    for (JsonNode data : change.get("data")) {
      Map<String, String> row = JSON.convertValue(data, new TypeReference<>() {});
      List<String> key = new ArrayList<>();
      change.get("pkNames").forEach(column -> key.add(row.get(column.asText())));
      if (change.get("type").asText().equals("DELETE")) {
        rows.remove(key);
      } else {
        rows.put(key, row);
      }
    }
  }
}
