"""The trap catalogue and fault injection.

A *trap* is an entry of the catalogue (``catalogue``). A *fault* is one occurrence of a trap in a stream.
Legal faults are what TiCDC may do; illegal faults are defects that it must never produce.
"""
