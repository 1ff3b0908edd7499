//! Messages of TiCDC, and what a consumer must read in them. README.md describes the members of a vector.

pub use serde_json::Value;
use std::{fs, io};

fn read(name: &str) -> io::Result<String> {
    fs::read_to_string(format!("{}/data/{name}", env!("CARGO_MANIFEST_DIR")))
}

/// Returns the vectors of a protocol, such as `open-protocol`. Keys and values of messages are Base64.
pub fn load(protocol: &str) -> io::Result<Vec<Value>> {
    let text = read(&format!("{protocol}.jsonl"))?;
    Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
}

/// Returns the manifest: the numbers of vectors and messages per protocol, and the digests of the files.
pub fn manifest() -> io::Result<Value> {
    Ok(serde_json::from_str(&read("manifest.json")?)?)
}
