"""Messages that exist, as rows: messages, events, the changes of a table, and its state (Arrow)."""
