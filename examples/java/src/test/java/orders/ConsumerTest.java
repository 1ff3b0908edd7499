package orders;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ConsumerTest {
  private static final String SQL = """
      CREATE TABLE test.orders (id INT PRIMARY KEY, item VARCHAR(20) NOT NULL, price DECIMAL(8,2));
      INSERT INTO test.orders VALUES (1, 'lamp', 19.90), (2, 'chair', 80.00), (3, 'desk', NULL);
      UPDATE test.orders SET price = 75.00 WHERE id = 2;
      UPDATE test.orders SET id = 4 WHERE id = 1;
      DELETE FROM test.orders WHERE id = 3;
      """;

  @RegisterExtension
  final TicdcTopic plain = TicdcTopic.ofSql(SQL)
      .with("protocol", "canal-json").with("partitions", 2).with("dispatch", "index-value");

  @RegisterExtension
  final TicdcTopic repeated = TicdcTopic.ofSql(SQL)
      .with("protocol", "canal-json").with("traps", List.of("duplicate-message:rate=1"));

  @Test
  void theConsumerHasTheUpstreamRows() throws Exception {
    plain.assertRows(Consumer.consume(plain.bootstrap(), plain.name()));
  }

  @Test
  void repeatedMessagesChangeNothing() throws Exception {
    repeated.assertRows(Consumer.consume(repeated.bootstrap(), repeated.name()));
  }
}
