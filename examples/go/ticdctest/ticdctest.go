// Package ticdctest fills Kafka topics as TiCDC would, for tests of consumers. It lets a running
// `ticdc-producer serve` do so; TICDC_PRODUCER_SERVER is its URL, TICDC_PRODUCER_TOKEN its token.
package ticdctest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// Run says what is written. Scenario is the name of a shipped or an uploaded scenario; SQL replaces it.
type Run struct {
	Scenario   string            `json:"scenario,omitempty"`
	SQL        string            `json:"sql,omitempty"`
	Protocol   string            `json:"protocol,omitempty"`
	Options    map[string]string `json:"options,omitempty"`
	Partitions int               `json:"partitions,omitempty"`
	Dispatch   string            `json:"dispatch,omitempty"`
	Traps      []string          `json:"traps,omitempty"`
	Seed       int64             `json:"seed,omitempty"`
}

// Topic is a new topic with the messages of a run.
type Topic struct {
	Bootstrap, Name string
	id              string
	t               testing.TB
}

// Row is a row of a consumer: nil, numbers, booleans and canonical text by column.
type Row = map[string]any

// Fill runs a scenario into a topic that only this test uses. The topic is deleted when the test ends.
func Fill(t testing.TB, run Run) *Topic {
	t.Helper()
	var made struct {
		ID, Bootstrap string
		Topics        []string
		Error         *struct{ Where, What, Hint string }
	}
	request(t, "POST", "/v1/runs?wait=120", run, &made)
	if made.Error != nil {
		t.Fatalf("ticdc-producer: %s: %s (%s)", made.Error.Where, made.Error.What, made.Error.Hint)
	}
	if len(made.Topics) == 0 {
		t.Fatal("ticdc-producer: the run has not ended in time")
	}
	t.Cleanup(func() { request(t, "DELETE", "/v1/runs/"+made.ID, nil, nil) })
	return &Topic{Bootstrap: made.Bootstrap, Name: made.Topics[0], id: made.ID, t: t}
}

// AssertRows fails the test if the rows, by SCHEMA.TABLE, are not those that a correct consumer has.
func (topic *Topic) AssertRows(tables map[string][]Row) {
	topic.t.Helper()
	var found struct {
		OK          bool
		Differences []string
	}
	body := map[string]any{"tables": tables}
	request(topic.t, "POST", "/v1/runs/"+topic.id+"/comparison", body, &found)
	if !found.OK {
		topic.t.Errorf("the rows differ from the expected ones\n%s", strings.Join(found.Differences, "\n"))
	}
}

func request(t testing.TB, method, path string, body, result any) {
	t.Helper()
	server := os.Getenv("TICDC_PRODUCER_SERVER")
	if server == "" {
		server = "http://127.0.0.1:8642"
	}
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	call, err := http.NewRequest(method, server+path, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	call.Header.Set("Content-Type", "application/json")
	if token := os.Getenv("TICDC_PRODUCER_TOKEN"); token != "" {
		call.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(call)
	if err != nil {
		t.Fatalf("no service: start `ticdc-producer serve` (%v)", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 300 {
		t.Fatalf("ticdc-producer: %s %s: %s %s %v", method, path, answer.Status, text, err)
	}
	if result != nil {
		if err := json.Unmarshal(text, result); err != nil {
			t.Fatal(err)
		}
	}
}
