// Messages of TiCDC, and what a consumer must read in them. README.md describes the members of a vector.
import { readFileSync } from "node:fs";

const text = (name) => readFileSync(new URL(`data/${name}`, import.meta.url), "utf8");
const bytes = (part) => (part === null ? null : Buffer.from(part, "base64"));

/** The numbers of vectors and messages per protocol, and the digests of the files. */
export const manifest = JSON.parse(text("manifest.json"));

/**
 * Returns the vectors of a protocol. Keys and values of messages, and files, are buffers.
 * @param {string} protocol
 */
export function load(protocol) {
  return text(`${protocol}.jsonl`)
    .trimEnd()
    .split("\n")
    .map((line) => {
      const vector = JSON.parse(line);
      for (const message of vector.messages ?? []) {
        message.key = bytes(message.key);
        message.value = bytes(message.value);
      }
      for (const path in vector.files) vector.files[path] = bytes(vector.files[path]);
      return vector;
    });
}
