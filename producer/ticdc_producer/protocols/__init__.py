"""Encoders and decoders of the protocols. They use no Spark, no Kafka, no clock and no files.

Each protocol is a package. The other modules hold the code that the protocols share, such as Go's formats
of JSON text and quoted bytes.
"""
