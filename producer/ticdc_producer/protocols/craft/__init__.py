"""TiCDC Craft: a binary protocol, several events in one message, names as numbers of a dictionary.

Source of the rules: ``tiflow pkg/sink/codec/craft``. The tests compare with the bytes of its real encoder.
"""
