"""What everything else speaks about: types, tables, values, events, messages, time stamps.

Nothing here knows Spark, Kafka or a protocol.
"""
