"""The trap catalogue and fault injection.

A *trap* is an entry of the catalogue (``catalogue``). A *fault* is one occurrence of a trap in a stream.
Legal faults are situations that TiCDC may cause; illegal faults are defects that it must never produce.
"""
