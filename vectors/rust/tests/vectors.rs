/// Loads every vector. Give the messages to your consumer here, and compare what it reads.
#[test]
fn every_vector() {
    let manifest = ticdc_vectors::manifest().unwrap();
    for (protocol, counts) in manifest["protocols"].as_object().unwrap() {
        let vectors = ticdc_vectors::load(protocol).unwrap();
        let messages: Vec<_> = vectors.iter().filter_map(|vector| vector["messages"].as_array()).flatten().collect();
        assert_eq!(vectors.len() as u64, counts["vectors"], "{protocol}");
        assert_eq!(messages.len() as u64, counts["messages"], "{protocol}");
        assert!(messages.iter().all(|message| message["key"].is_string() || message["value"].is_string()));
    }
}
