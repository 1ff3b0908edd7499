"""An in-memory TiDB: runs SQL scripts and returns the history of their commits.

- ``session``: the entry point. ``session.session`` runs a script statement by statement and collects a
  ``History``; the other modules are settings, variables, prepared statements and refused statements.
- ``text`` splits a script into statements and words, and parses DML with sqlglot.
- ``dml`` runs INSERT, REPLACE, UPDATE and DELETE. Statements of one shape share a tree and a plan.
- ``query`` runs SELECT, and finds the rows of joined tables.
- ``expression`` checks expressions, infers their types and computes their values, with the package
  ``functions``.
- ``syntax`` reads DDL, because sqlglot's grammar covers too little of TiDB's. ``definition`` makes columns,
  keys, tables and partitions of it, ``ddl`` runs it, and ``restore`` prints it as TiDB does.
- ``store`` has the state: databases, tables, rows, ids, transactions, and the history of commits.
"""
