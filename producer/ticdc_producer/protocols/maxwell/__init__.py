"""Maxwell as TiCDC writes it: JSON objects of rows, joined without a separator in a message.

Source of the rules: ``tiflow pkg/sink/codec/maxwell``. The tests compare with the bytes of its real encoder.
"""
