"""Prints DDL as TiDB's ``Restore`` does, which is the text that TiCDC sends."""

from ticdc_producer.scenario.sql.restore.column import print_default
from ticdc_producer.scenario.sql.restore.statement import print_ddl, print_ddl_with_targets

__all__ = ["print_ddl", "print_ddl_with_targets", "print_default"]
