"""Runs DDL: one module per kind of statement. Each job gets its number, its ids and its catalog entries.

Rules: golden data's "What takes a time stamp" and "Ids"; action codes: ``model.catalog``.
"""

from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.statements import VERBS, is_ddl, run_ddl

__all__ = ["VERBS", "DDLContext", "is_ddl", "run_ddl"]
