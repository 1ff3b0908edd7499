"""Debezium's envelope in Avro, with the schemas of a registry."""
