"""Queries: SELECT, set operations and subqueries, for the statements that read rows with them.

- ``context`` is the entry point: it holds the state that one statement's expressions share, and checks each
  query once. ``select`` and ``set_operation`` make the plans (``plan``) that run.
- ``from_clause`` finds the ``source`` of each table and query in FROM; ``join`` combines their rows, with the
  indexes of ``equality``; ``scope`` resolves names.
- ``grouping`` and ``aggregate`` compute groups; ``subquery`` evaluates the predicates with subqueries.
"""
