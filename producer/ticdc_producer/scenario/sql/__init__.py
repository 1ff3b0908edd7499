"""An in-memory TiDB: runs SQL scripts and returns the history of their commits.

- ``session`` is the entry point: it runs a script statement by statement and collects a ``History``.
- ``lexer`` and ``statements`` split a script into statements; ``variables`` runs ``SET``.
- DML is parsed by sqlglot (``dialect``; ``statement_cache`` reuses its trees) and run by ``insert``
  (INSERT, REPLACE), ``dml`` (UPDATE, DELETE) and ``joined_dml`` (those of several tables) on the rows in
  ``storage``. ``dml`` and ``lookup`` find the rows of a WHERE, the package ``query`` those of queries.
  ``transaction`` records row changes and undoes them, all or those after a savepoint; ``references``
  enforces foreign keys; ``session_settings`` has variables and results of statements.
- DDL is read with a ``cursor``, because sqlglot's grammar covers too little of TiDB's: the
  ``*_definition`` modules read columns, keys, tables and partitions, and the package ``ddl`` runs
  statements on the databases of ``cluster``. The package ``restore`` prints DDL text as TiDB restores it.
- ``evaluate`` computes expressions with ``literal``, ``arithmetic``, ``compare``, ``cast`` and the package
  ``functions``.
"""
