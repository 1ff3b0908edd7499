package vectors_test

import (
	"encoding/json"
	"testing"

	vectors "example.com/ticdc-vectors"
)

// TestVectors loads every vector. Give the messages to your consumer here, and compare what it reads.
func TestVectors(t *testing.T) {
	var manifest struct {
		Protocols map[string]struct{ Vectors, Messages int }
	}
	text, err := vectors.Manifest()
	if err != nil || json.Unmarshal(text, &manifest) != nil || len(manifest.Protocols) == 0 {
		t.Fatal("no manifest", err)
	}
	for protocol, counts := range manifest.Protocols {
		t.Run(protocol, func(t *testing.T) {
			loaded, err := vectors.Load(protocol)
			if err != nil {
				t.Fatal(err)
			}
			messages := 0
			for _, vector := range loaded {
				messages += len(vector.Messages)
				if !vector.Damaged && len(vector.Messages) > 0 && vector.Messages[0].Key == nil && vector.Messages[0].Value == nil {
					t.Error(vector.ID, "has a message without content")
				}
			}
			if len(loaded) != counts.Vectors || messages != counts.Messages {
				t.Errorf("%d vectors with %d messages, expected %+v", len(loaded), messages, counts)
			}
		})
	}
}
