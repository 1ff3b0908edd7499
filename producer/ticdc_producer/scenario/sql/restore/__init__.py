"""DDL text as TiCDC sends it, made from DDL as a user types it."""

from ticdc_producer.scenario.sql.restore.statement import restored

__all__ = ["restored"]
