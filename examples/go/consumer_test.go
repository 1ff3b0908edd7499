package orders

import (
	"context"
	"testing"
	"time"

	"example.com/orders/ticdctest"
)

const sql = `
CREATE TABLE test.orders (id INT PRIMARY KEY, item VARCHAR(20) NOT NULL, price DECIMAL(8,2));
INSERT INTO test.orders VALUES (1, 'lamp', 19.90), (2, 'chair', 80.00), (3, 'desk', NULL);
UPDATE test.orders SET price = 75.00 WHERE id = 2;
UPDATE test.orders SET id = 4 WHERE id = 1;
DELETE FROM test.orders WHERE id = 3;
`

func TestTheConsumerHasTheUpstreamRows(t *testing.T) {
	check(t, ticdctest.Run{SQL: sql, Protocol: "canal-json", Partitions: 2, Dispatch: "index-value"})
}

func TestRepeatedMessagesChangeNothing(t *testing.T) {
	check(t, ticdctest.Run{SQL: sql, Protocol: "canal-json", Traps: []string{"duplicate-message:rate=1"}})
}

func check(t *testing.T, run ticdctest.Run) {
	topic := ticdctest.Fill(t, run)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tables, err := Consume(ctx, topic.Bootstrap, topic.Name)
	if err != nil {
		t.Fatal(err)
	}
	topic.AssertRows(tables.Rows())
}
