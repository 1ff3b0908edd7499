"""The protocols: values in, bytes out, and back. No Spark, no Kafka, no clock, no files.

One package per protocol; beside them what they share: Go's way of printing JSON, of quoting bytes.
"""
