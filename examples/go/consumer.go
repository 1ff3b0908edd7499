// Package orders has a consumer of TiCDC's Canal-JSON.
package orders

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/segmentio/kafka-go"
)

type change struct {
	Database, Table, Type string
	IsDDL                 bool             `json:"isDdl"`
	Keys                  []string         `json:"pkNames"`
	Data                  []map[string]any `json:"data"`
}

// Tables has the rows by table, and by the values of their primary key.
type Tables map[string]map[string]map[string]any

// Apply changes the rows as a message says.
func (tables Tables) Apply(message []byte) error {
	var one change
	if err := json.Unmarshal(message, &one); err != nil || one.IsDDL {
		return err
	}
	name := one.Database + "." + one.Table
	if tables[name] == nil {
		tables[name] = map[string]map[string]any{}
	}
	for _, row := range one.Data {
		key := keyOf(row, one.Keys)
		if one.Type == "DELETE" {
			delete(tables[name], key)
		} else {
			tables[name][key] = row
		}
	}
	return nil
}

func keyOf(row map[string]any, columns []string) string {
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i], _ = row[column].(string)
	}
	return strings.Join(values, "\x00")
}

// Rows returns the rows of each table.
func (tables Tables) Rows() map[string][]map[string]any {
	found := map[string][]map[string]any{}
	for name, rows := range tables {
		for _, row := range rows {
			found[name] = append(found[name], row)
		}
	}
	return found
}

// Consume applies all messages that a topic has now.
func Consume(ctx context.Context, address, topic string) (Tables, error) {
	tables := Tables{}
	partitions, err := kafka.DefaultDialer.LookupPartitions(ctx, "tcp", address, topic)
	if err != nil {
		return nil, err
	}
	for _, partition := range partitions {
		if err := consume(ctx, address, topic, partition.ID, tables); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

func consume(ctx context.Context, address, topic string, partition int, tables Tables) error {
	leader, err := kafka.DialLeader(ctx, "tcp", address, topic, partition)
	if err != nil {
		return err
	}
	defer leader.Close()
	first, end, err := leader.ReadOffsets()
	if err != nil {
		return err
	}
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{address}, Topic: topic, Partition: partition})
	defer reader.Close()
	for offset := first; offset < end; offset++ {
		message, err := reader.ReadMessage(ctx)
		if err != nil {
			return err
		}
		if err := tables.Apply(message.Value); err != nil {
			return err
		}
	}
	return nil
}
