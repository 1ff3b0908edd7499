"""Where messages are read from, Kafka or a folder, and how they become events."""
