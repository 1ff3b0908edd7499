"""An in-memory TiDB: runs SQL scripts and returns the history of their commits.

- ``session`` is the entry point: it runs a script statement by statement and collects a ``History``.
- ``lexer`` and ``statements`` split a script into statements; ``variables`` runs ``SET``.
- DML is parsed by sqlglot (``dialect``; ``statement_cache`` reuses its trees) and run by ``insert``
  (INSERT, REPLACE) and ``update`` (UPDATE, DELETE) on the rows in ``storage``. ``row_selection`` and
  ``lookup`` find the rows of a WHERE, ``select`` those of INSERT … SELECT. ``transaction`` records row
  changes and undoes them; ``references`` enforces foreign keys.
- DDL is read with a ``cursor``, because sqlglot's grammar covers too little of TiDB's: the
  ``*_definition`` modules read columns, keys, tables and partitions, and the package ``ddl`` runs
  statements on the databases of ``cluster``. The package ``restore`` prints DDL text as TiDB restores it.
- ``evaluate`` computes expressions with ``literal``, ``arithmetic``, ``compare``, ``cast`` and the package
  ``functions``.
"""
