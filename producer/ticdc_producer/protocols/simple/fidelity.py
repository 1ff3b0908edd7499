"""What Simple does not carry."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.event import DDLEvent
from ticdc_producer.model.fidelity import Fidelity
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.simple.control_encoder import ddl_schema_table
from ticdc_producer.protocols.simple.event_type import action_of, ddl_type_name

VISIBLE_FLAGS = int(ColumnFlag.BINARY | ColumnFlag.HANDLE_KEY | ColumnFlag.NULLABLE | ColumnFlag.UNSIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleFidelity(Fidelity):
    """The fidelity of Simple.

    :param profile: the TiCDC program that writes the messages.
    """

    profile: Profile = "classic"

    def visible_flag(self, flag: int) -> int:
        """The flags that a table schema shows.

        Its index ``primary`` may be a unique key that is the handle key, so the primary key is not visible.
        """
        return flag & VISIBLE_FLAGS

    def visible_ddl_type(self, action: int) -> int:
        """TiDB's action code, or 0 if several codes have the same ``type``."""
        return action_of(ddl_type_name(action, self.profile))

    def visible_ddl_names(
        self, event: DDLEvent, table: TableInfo | None, before: TableInfo | None
    ) -> tuple[str, str]:
        """Names of the table in ``tableSchema``; empty for a DDL on a database."""
        described = ddl_schema_table(event, table, before)
        return ("", "") if described is None else (described.schema, described.name)
