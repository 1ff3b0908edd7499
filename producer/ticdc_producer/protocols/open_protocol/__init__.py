"""TiCDC Open Protocol: framed JSON, several row changed events in one message.

Source of the rules: ``tiflow pkg/sink/codec/open``. The tests compare with the bytes of its real encoder.
"""
