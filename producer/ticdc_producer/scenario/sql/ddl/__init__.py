"""DDL: one module per kind of statement; each job takes its number, ids and catalog entries.

Rules: golden data's "What takes a time stamp" and "Ids"; action codes: ``model.ddl_action``.
"""

from ticdc_producer.scenario.sql.ddl.context import DDLContext
from ticdc_producer.scenario.sql.ddl.statements import is_ddl, run_ddl

__all__ = ["DDLContext", "is_ddl", "run_ddl"]
