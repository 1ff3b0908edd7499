"""Debezium: one JSON message per row change, with the change's schema beside it, as TiCDC writes it.

Source of the rules: ``tiflow pkg/sink/codec/debezium``; the bytes of its real encoder are the tests'
judge.
"""
