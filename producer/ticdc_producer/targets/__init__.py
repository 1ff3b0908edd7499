"""Where messages go and where they are read from: Kafka, a golden folder, a storage sink."""
