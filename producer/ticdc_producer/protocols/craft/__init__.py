"""TiCDC Craft: a binary protocol, several events in one message, names as numbers of a dictionary.

Source of the rules: ``tiflow pkg/sink/codec/craft``; the bytes of its real encoder are the tests' judge.
"""
