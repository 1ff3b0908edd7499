// Package vectors has messages of TiCDC, and what a consumer must read in them. README.md describes the members.
package vectors

import (
	"embed"
	"encoding/json"
	"strings"
)

//go:embed data
var data embed.FS

// A Message is a record of Kafka.
type Message struct {
	Topic             string
	Partition, Offset int
	Key, Value        []byte
}

// A Table is what a consumer has at the end; a value is a text, nil, or bytes as {"b64": …}.
type Table struct {
	Key   []string
	Types map[string]string
	Rows  []map[string]any
}

// A Vector is a line of a file.
type Vector struct {
	ID, Says, Level, Protocol string
	Profiles                  []string
	Options                   map[string]any
	Messages                  []Message
	Schemas                   map[string]string
	Damaged                   bool
	Events                    []map[string]any
	Files                     map[string][]byte
	Snapshot                  []map[string]any
	Partitions                map[string]int
	ResolvedTS                string `json:"resolved_ts"`
	FollowsDDL                bool   `json:"follows_ddl"`
	Tables                    map[string]Table
}

// Load returns the vectors of a protocol.
func Load(protocol string) ([]Vector, error) {
	text, err := data.ReadFile("data/" + protocol + ".jsonl")
	if err != nil {
		return nil, err
	}
	var vectors []Vector
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		var vector Vector
		if err := json.Unmarshal([]byte(line), &vector); err != nil {
			return nil, err
		}
		vectors = append(vectors, vector)
	}
	return vectors, nil
}

// Manifest returns the text of manifest.json.
func Manifest() ([]byte, error) { return data.ReadFile("data/manifest.json") }
