"""The grammar of DDL: it reads a statement into one syntax tree, which others run, print and describe.

The grammar accepts all that TiDB parses. Each reader of the tree rejects unsupported constructs by name.
Expressions and queries are in the tree as the words of the statement (``SourceText``).
"""

from ticdc_producer.scenario.sql.syntax.statement import parse_ddl

__all__ = ["parse_ddl"]
