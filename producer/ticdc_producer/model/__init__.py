"""The types that all other packages share: column types, tables, values, events, messages, TSOs.

Nothing here depends on Spark, Kafka or a protocol.
"""
