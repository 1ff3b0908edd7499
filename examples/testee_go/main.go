// A testee of `ticdc-producer conformance`: a consumer of Canal-JSON, without packages.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"unicode/utf8"
)

type request struct {
	Hello                 int
	Case, Level, Protocol string
	Options               map[string]any
	Value                 []byte
	Messages              []message
	Tables                []string
	ResolvedTS            *uint64 `json:"resolved_ts"`
	FollowsDDL            bool    `json:"follows_ddl"`
	Claims                map[string]string
	Snapshot              []loadedTable
	Do, Directory         string
	Step, Stop            int
	Partitions            map[string]int
	Assigned              []string
	Committed             map[string]int
}

// loadedTable is a table that the consumer has from a dump.
type loadedTable struct {
	Name string
	Key  []string
	Rows []image
}

type message struct {
	Topic             string
	Partition, Offset int
	Value             []byte
}

type image map[string]any

type event struct {
	Kind          string `json:"kind"`
	TS            uint64 `json:"commit_ts"`
	Schema        string `json:"schema,omitempty"`
	Table         string `json:"table,omitempty"`
	Op            string `json:"op,omitempty"`
	Before        image  `json:"before"`
	After         image  `json:"after"`
	HandleKeyOnly bool   `json:"handle_key_only"`
	Query         string `json:"query,omitempty"`
	DDLType       *int   `json:"ddl_type,omitempty"`
	keys          []string
	clears        bool
}

type body struct {
	Type, Database, Table, SQL *string
	IsDDL                      *bool `json:"isDdl"`
	ES                         *uint64
	Keys                       []string          `json:"pkNames"`
	Types                      map[string]string `json:"mysqlType"`
	Data, Old                  []map[string]*string
	TiDB                       struct {
		CommitTS      *uint64
		WatermarkTS   *uint64
		OnlyHandleKey bool
	} `json:"_tidb"`
}

var (
	ddlTypes   = map[string]int{"CREATE": 3, "ERASE": 4, "TRUNCATE": 11, "RENAME": 14}
	operations = map[string]string{"INSERT": "insert", "UPDATE": "update", "DELETE": "delete"}
	errMissing = errors.New("a part of the message is missing")
)

func valueOf(text *string, kind string) (any, error) {
	if text == nil {
		return nil, nil
	}
	name, _, _ := strings.Cut(kind, "(")
	if !strings.HasSuffix(name, "blob") && !strings.HasSuffix(name, "binary") {
		return *text, nil
	}
	content := make([]byte, 0, len(*text))
	for _, character := range *text {
		if character > 255 {
			return nil, errors.New("a character of a byte string exceeds a byte")
		}
		content = append(content, byte(character))
	}
	if utf8.Valid(content) {
		return string(content), nil
	}
	return map[string]string{"b64": base64.StdEncoding.EncodeToString(content)}, nil
}

func imageOf(rows []map[string]*string, types map[string]string) (image, error) {
	if len(rows) == 0 || rows[0] == nil {
		return nil, errMissing
	}
	found := image{}
	for name, text := range rows[0] {
		kind, known := types[name]
		value, err := valueOf(text, kind)
		if !known || err != nil {
			return nil, errors.Join(errMissing, err)
		}
		found[name] = value
	}
	return found, nil
}

func decode(value []byte) (event, error) {
	var from body
	if !utf8.Valid(value) {
		return event{}, errors.New("the message is not UTF-8")
	}
	if err := json.Unmarshal(value, &from); err != nil {
		return event{}, err
	}
	if from.Type != nil && *from.Type == "TIDB_WATERMARK" && from.TiDB.WatermarkTS != nil {
		return event{Kind: "resolved", TS: *from.TiDB.WatermarkTS}, nil
	}
	if from.Type == nil || from.Database == nil || from.Table == nil || from.IsDDL == nil || from.ES == nil {
		return event{}, errMissing
	}
	found := event{TS: *from.ES << 18, Schema: *from.Database, Table: *from.Table, keys: from.Keys}
	if from.TiDB.CommitTS != nil {
		found.TS = *from.TiDB.CommitTS
	}
	if *from.IsDDL {
		if from.SQL == nil {
			return event{}, errMissing
		}
		code := ddlTypes[*from.Type]
		found.Kind, found.Query, found.DDLType = "ddl", *from.SQL, &code
		found.clears = *from.Type == "ERASE" || *from.Type == "TRUNCATE"
		return found, nil
	}
	var err error
	found.Kind, found.Op, found.HandleKeyOnly = "row", operations[*from.Type], from.TiDB.OnlyHandleKey
	if found.After, err = imageOf(from.Data, from.Types); err != nil {
		return event{}, err
	}
	switch found.Op {
	case "delete":
		found.Before, found.After = found.After, nil
	case "update":
		found.Before, err = imageOf(from.Old, from.Types)
	case "":
		err = fmt.Errorf("unknown type %s", *from.Type)
	}
	return found, err
}

func (one event) key(row image) string {
	names := append([]string{}, one.keys...)
	sort.Strings(names)
	values := make([]any, len(names))
	for index, name := range names {
		values[index] = row[name]
	}
	text, _ := json.Marshal(values)
	return string(text)
}

// steps of a change of the key are a delete and an insert: another row may get the old key.
func (one event) steps() []event {
	if one.Op != "update" {
		return []event{one}
	}
	whole := image{} // an old image may have the changed columns only
	for _, part := range []image{one.After, one.Before} {
		for name, value := range part {
			whole[name] = value
		}
	}
	one.Before = whole
	if one.key(whole) == one.key(one.After) {
		return []event{one}
	}
	removed, added := one, one
	removed.Op, removed.After, added.Op, added.Before = "delete", nil, "insert", nil
	return []event{removed, added}
}

// rank is the position of an event among those of its commit-ts: deletes, other rows, DDLs.
func (one event) rank() int {
	switch {
	case one.Kind == "ddl":
		return 2
	case one.Op == "delete":
		return 0
	}
	return 1
}

func tablesOf(from request) (map[string][]image, error) {
	var events []event
	for _, one := range from.Messages {
		found, err := decode(one.Value)
		if err != nil {
			return nil, err
		}
		events = append(events, found.steps()...)
	}
	sort.SliceStable(events, func(i, j int) bool {
		one, other := events[i], events[j]
		return one.TS < other.TS || one.TS == other.TS && one.rank() < other.rank()
	})
	tables := map[string]map[string]image{}
	for _, loaded := range from.Snapshot {
		tables[loaded.Name] = map[string]image{}
		for _, row := range loaded.Rows {
			tables[loaded.Name][event{keys: loaded.Key}.key(row)] = row
		}
	}
	for _, one := range events {
		if one.Kind == "resolved" || from.ResolvedTS != nil && one.TS > *from.ResolvedTS {
			continue
		}
		name := one.Schema + "." + one.Table
		if tables[name] == nil || one.clears {
			tables[name] = map[string]image{}
		}
		if one.Before != nil {
			delete(tables[name], one.key(one.Before))
		}
		if one.After != nil {
			tables[name][one.key(one.After)] = one.After
		}
	}
	found := map[string][]image{}
	for _, name := range from.Tables {
		found[name] = []image{}
		for _, row := range tables[name] {
			found[name] = append(found[name], row)
		}
	}
	return found, nil
}

// unsupported returns why a case is skipped; it is empty if it is not.
func unsupported(from request) string {
	compression := from.Options["large-message-handle-compression"]
	compressed := compression != nil && compression != "none"
	if from.Protocol != "canal-json" || compressed || from.FollowsDDL || from.Claims != nil {
		return "not implemented"
	}
	return ""
}

func answer(from request) map[string]any {
	if from.Hello == 1 {
		return map[string]any{"hello": 1}
	}
	if from.Level == "restart" {
		return restartAnswer(from)
	}
	if reason := unsupported(from); reason != "" {
		return map[string]any{"case": from.Case, "skipped": reason}
	}
	var found any
	var err error
	part := "tables"
	if from.Level == "apply" {
		found, err = tablesOf(from)
	} else {
		part = "events"
		var one event
		one, err = decode(from.Value)
		found = []event{one}
	}
	if err != nil {
		return map[string]any{"case": from.Case, "error": err.Error()}
	}
	return map[string]any{"case": from.Case, part: found}
}

func main() {
	reader, writer := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			return
		}
		var from request
		if err := json.NewDecoder(bytes.NewReader(line)).Decode(&from); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if encoder.Encode(answer(from)) != nil || writer.Flush() != nil {
			return
		}
	}
}
