"""What Simple does not carry."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.event import DDLEvent
from ticdc_producer.model.fidelity import Losses
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.profile import Profile
from ticdc_producer.model.table import TableInfo
from ticdc_producer.protocols.simple.control_encoder import shown_table
from ticdc_producer.protocols.simple.event_type import ddl_word, told_action

TOLD_FLAGS = int(ColumnFlag.BINARY | ColumnFlag.HANDLE_KEY | ColumnFlag.NULLABLE | ColumnFlag.UNSIGNED)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleLosses(Losses):
    """The codec's own account.

    :param profile: the program that writes.
    """

    profile: Profile = "classic"

    def told_flag(self, flag: int) -> int:
        """What a table's description says of a column.

        It calls the handle key ``primary`` whether it is the primary key or not.
        """
        return flag & TOLD_FLAGS

    def told_ddl_type(self, action: int) -> int:
        """TiDB's action code, 0 where the word stands for several."""
        return told_action(ddl_word(action, self.profile))

    def told_ddl_names(
        self, event: DDLEvent, table: TableInfo | None, before: TableInfo | None
    ) -> tuple[str, str]:
        """Those of the table that the message describes; a DDL of a database names nothing."""
        shown = shown_table(event, table, before)
        return ("", "") if shown is None else (shown.schema, shown.name)
