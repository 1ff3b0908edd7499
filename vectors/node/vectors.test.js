import assert from "node:assert/strict";
import test from "node:test";
import { load, manifest } from "ticdc-vectors";

// Loads every vector. Give the messages to your consumer here, and compare what it reads.
for (const [protocol, counts] of Object.entries(manifest.protocols)) {
  test(protocol, () => {
    const vectors = load(protocol);
    const messages = vectors.flatMap((vector) => vector.messages ?? []);
    assert.deepEqual({ vectors: vectors.length, messages: messages.length }, counts);
    for (const { key, value } of messages) assert.ok(Buffer.isBuffer(key) || Buffer.isBuffer(value));
  });
}
