"""The event stream to messages, inside Spark workers."""
