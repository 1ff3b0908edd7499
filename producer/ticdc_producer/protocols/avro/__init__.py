"""Avro in Confluent's wire format: a row is a record, and a registry keeps what records look like."""
