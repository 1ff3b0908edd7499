"""Event stream to messages to where they go: Kafka, or a folder."""
