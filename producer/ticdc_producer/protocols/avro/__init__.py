"""Avro in Confluent's wire format: each row is a record whose schema is stored in a schema registry."""
