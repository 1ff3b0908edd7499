"""Change log to event stream: one module per stage, each a pure ``DataFrame → DataFrame``.

commit → mutations → split → dispatch → control events → order. Stages get what they need to know of the
tables as a small DataFrame with one row per ``table_version`` (``table_metadata``), joined by broadcast.
"""
