"""A small TiDB: SQL statements in, the history of what they committed out.

``session`` is the way in. ``statements`` splits a script; ``cursor`` and the ``*_definition`` modules read
DDL by hand, since sqlglot's grammar knows too little of TiDB's; DML is parsed by sqlglot (``dialect``) and
run by ``insert``, ``update`` and ``delete`` on ``storage``; ``evaluate`` and its tables compute expressions.
"""
