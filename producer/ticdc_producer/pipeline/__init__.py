"""Change log to event stream: one module per stage, each a pure ``DataFrame → DataFrame``.

commit → mutations → split → dispatch → barriers → order. What a stage needs to know of the tables comes
as a small DataFrame of facts by ``table_version`` (``facts``), joined by broadcast.
"""
