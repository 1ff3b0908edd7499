"""The trap catalogue: what happens in a TiCDC topic that consumers fall over, and what must never happen."""
