"""Canal in Protocol Buffers as TiCDC writes it: a packet with an entry for each row.

Source of the rules: ``tiflow pkg/sink/codec/canal``. The tests compare with the bytes of its real encoder.
"""
