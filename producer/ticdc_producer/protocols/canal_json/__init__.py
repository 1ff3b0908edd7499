"""Canal-JSON as TiCDC writes it: one event per message, every value a JSON string.

Source of the rules: ``tiflow pkg/sink/codec/canal``. The tests compare with the bytes of its real encoder.
"""
