"""The grammar of DDL: it reads a statement into one syntax tree, which others run, print and describe.

The grammar accepts what TiDB parses; each reader of the tree rejects by name what it does not support.
Expressions and queries are in the tree as the words of the statement (``Source``).
"""

from ticdc_producer.scenario.sql.syntax.statement import parse_ddl

__all__ = ["parse_ddl"]
