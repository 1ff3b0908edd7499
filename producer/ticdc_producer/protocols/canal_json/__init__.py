"""Canal-JSON as TiCDC writes it: one event in one message, every value a JSON string.

Source of the rules: ``tiflow pkg/sink/codec/canal``; the bytes of its real encoder are the tests' judge.
"""
