"""Debezium: one JSON message per row change, with the schema of the row in the message, as TiCDC writes it.

Source of the rules: ``tiflow pkg/sink/codec/debezium``. The tests compare with bytes of TiCDC's own encoder.
"""
