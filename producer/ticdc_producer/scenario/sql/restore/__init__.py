"""Prints DDL as TiDB's ``Restore`` does, which is the text that TiCDC sends."""

from ticdc_producer.scenario.sql.restore.default_expression import print_default
from ticdc_producer.scenario.sql.restore.statement import print_ddl

__all__ = ["print_ddl", "print_default"]
