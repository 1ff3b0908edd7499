// The restart level: a consumer that survives being killed. It commits its offsets to Kafka.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"sort"
)

// change is a line of the database's file, written as a whole like a transaction.
type change struct {
	Table      string `json:",omitempty"`
	TS         uint64 `json:",omitempty"`
	Key        string `json:",omitempty"`
	Row        image  `json:",omitempty"`
	DDL        string `json:",omitempty"`
	Clears     bool   `json:",omitempty"`
	ResolvedTS uint64 `json:",omitempty"`
}

// database has tables in a file of changes.
type database struct {
	file       io.Writer
	tables     map[string]map[string]image
	ddls       map[string]bool
	newest     map[string]uint64
	resolvedTS uint64
}

func openDatabase(path string) (*database, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	found := &database{tables: map[string]map[string]image{}, ddls: map[string]bool{}, newest: map[string]uint64{}}
	for decoder := json.NewDecoder(bufio.NewReader(file)); ; {
		var one change
		if err := decoder.Decode(&one); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		found.apply(one)
	}
	found.file = file
	return found, nil
}

func (db *database) write(one change) error {
	db.apply(one)
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	_, err = db.file.Write(append(line, '\n'))
	return err
}

func (db *database) apply(one change) {
	if one.ResolvedTS > 0 {
		db.resolvedTS = one.ResolvedTS
		return
	}
	if db.tables[one.Table] == nil || one.Clears {
		db.tables[one.Table] = map[string]image{}
	}
	if one.DDL != "" {
		db.ddls[one.DDL] = true
		return
	}
	db.newest[one.Table] = max(db.newest[one.Table], one.TS)
	if one.Row == nil {
		delete(db.tables[one.Table], one.Key)
	} else {
		db.tables[one.Table][one.Key] = one.Row
	}
}

// stopped is the panic by which the runner stops the consumer: nothing happens after it.
type stopped struct{}

// points are what a step makes durable.
type points struct {
	labels    []string
	committed map[string]int
	stop      int
}

func (to *points) reached(label string) {
	to.labels = append(to.labels, label)
	if len(to.labels) == to.stop {
		panic(stopped{})
	}
}

// waiting is an event above the resolved-ts, and the message that has it.
type waiting struct {
	partition string
	offset    int
	event     event
}

type consumer struct {
	database *database
	resolved map[string]uint64
	next     map[string]int
	waiting  []waiting
	newest   map[string]uint64
}

// startConsumer forgets everything of earlier lives but the directory and the committed offsets.
func startConsumer(from request) (*consumer, error) {
	db, err := openDatabase(filepath.Join(from.Directory, "database.jsonl"))
	if err != nil {
		return nil, err
	}
	found := &consumer{database: db, resolved: map[string]uint64{}, next: map[string]int{}, newest: map[string]uint64{}}
	for _, name := range allPartitions(from) {
		found.resolved[name] = db.resolvedTS
	}
	for name, offset := range from.Committed {
		found.next[name] = offset
	}
	return found, nil
}

func allPartitions(from request) []string {
	var found []string
	for topic, count := range from.Partitions {
		for number := 0; number < count; number++ {
			found = append(found, fmt.Sprintf("%s/%d", topic, number))
		}
	}
	return found
}

func (to *consumer) deliver(messages []message, points *points) error {
	for _, one := range messages {
		partition := fmt.Sprintf("%s/%d", one.Topic, one.Partition)
		found, err := decode(one.Value)
		if err != nil {
			return err
		}
		if err := to.receive(waiting{partition, one.Offset, found}, points); err != nil {
			return err
		}
		to.next[partition] = one.Offset + 1
		if err := to.release(to.smallestResolved(), points); err != nil {
			return err
		}
	}
	return nil
}

func (to *consumer) receive(one waiting, points *points) error {
	switch {
	case one.event.Kind == "resolved":
		to.resolved[one.partition] = max(to.resolved[one.partition], one.event.TS)
	case one.event.TS > to.database.resolvedTS:
		for _, half := range one.event.steps() {
			to.waiting = append(to.waiting, waiting{one.partition, one.offset, half})
		}
	case one.event.Kind == "ddl" && !to.database.ddls[one.event.identity()]:
		return to.write(one.event, points) // its resolved-ts came before it
	}
	return nil
}

func (to *consumer) smallestResolved() uint64 {
	var found uint64 = math.MaxUint64
	for _, ts := range to.resolved {
		found = min(found, ts)
	}
	return found
}

// release applies what waits up to a resolved-ts, stores it, and commits the offsets.
func (to *consumer) release(ts uint64, points *points) error {
	if ts <= to.database.resolvedTS {
		return nil
	}
	ready := to.ready(ts)
	if err := to.writeAll(ready, points); err != nil {
		return err
	}
	if err := to.database.write(change{ResolvedTS: ts}); err != nil {
		return err
	}
	points.reached("effect")
	to.commit(points)
	return nil
}

// ready removes the events up to a time stamp from those that wait, and returns them in their order.
func (to *consumer) ready(ts uint64) []event {
	var found []event
	var rest []waiting
	for _, one := range to.waiting {
		if one.event.TS <= ts {
			found = append(found, one.event)
		} else {
			rest = append(rest, one)
		}
	}
	to.waiting = rest
	sort.SliceStable(found, func(i, j int) bool {
		one, other := found[i], found[j]
		return one.TS < other.TS || one.TS == other.TS && one.rank() < other.rank()
	})
	return found
}

func (to *consumer) writeAll(events []event, points *points) error {
	for _, one := range events {
		if err := to.write(one, points); err != nil {
			return err
		}
	}
	return nil
}

func (to *consumer) write(one event, points *points) error {
	found := change{Table: one.Schema + "." + one.Table, TS: one.TS}
	switch {
	case one.Kind == "ddl":
		found.DDL, found.Clears = one.identity(), one.clears
	case one.After == nil:
		found.Key = one.key(one.Before)
	default:
		found.Key, found.Row = one.key(one.After), one.After
	}
	err := to.database.write(found)
	points.reached("effect")
	return err
}

// identity is equal for all copies of a DDL.
func (one event) identity() string {
	return fmt.Sprintf("%d %s.%s %s", one.TS, one.Schema, one.Table, one.Query)
}

// commit commits of each partition the offset of the first message with an event that waits.
func (to *consumer) commit(points *points) {
	points.committed = map[string]int{}
	for name, offset := range to.next {
		points.committed[name] = offset
	}
	for _, one := range to.waiting {
		points.committed[one.partition] = min(points.committed[one.partition], one.offset)
	}
	points.reached("commit")
}

func (to *consumer) rows(from request, points *points) (map[string][]image, error) {
	if from.ResolvedTS == nil { // no further resolved event comes
		if err := to.writeAll(to.ready(math.MaxUint64), points); err != nil {
			return nil, err
		}
	}
	found := map[string][]image{}
	for _, name := range from.Tables {
		found[name] = []image{}
		for _, row := range to.database.tables[name] {
			found[name] = append(found[name], row)
		}
	}
	return found, nil
}

var current *consumer

// restartAnswer answers a line of the restart level.
func restartAnswer(from request) (found map[string]any) {
	points := &points{stop: from.Stop, labels: []string{}}
	found = map[string]any{"case": from.Case, "step": from.Step}
	defer func() {
		reason := recover()
		if _, stops := reason.(stopped); stops {
			found["stopped"] = true
		} else if reason != nil {
			panic(reason)
		}
		found["points"], found["committed"] = points.labels, points.committed
	}()
	var err error
	switch from.Do {
	case "start":
		if reason := unsupported(from); reason != "" {
			found["skipped"] = reason
			return found
		}
		if current, err = startConsumer(from); err == nil {
			found["offsets"] = current.next
		}
	case "deliver":
		err = current.deliver(from.Messages, points)
	default:
		found["tables"], err = current.rows(from, points)
	}
	if err != nil {
		found["error"] = err.Error()
		delete(found, "tables")
	}
	return found
}
