"""What CSV does not carry."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Losses, Reduction
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.protocols.member_text import member_text
from ticdc_producer.protocols.storage.schema_file import column_type

_PRIMARY = ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class CSVLosses(Losses):
    """The codec's own account: types and key are those of schema files, ENUM and SET are their texts.

    :param bare_null: what stands for NULL where nothing is quoted, if a text may be the same; else None.
    """

    bare_null: bytes | None = None

    def told_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # told without flags
        return column_type(column).lower()

    def told_flag(self, flag: int) -> int:
        return int(_PRIMARY) if flag & ColumnFlag.PRIMARY_KEY else 0

    def told_value(self, column: ColumnInfo) -> Reduction | None:
        members = column.type in (MySQLType.ENUM, MySQLType.SET)
        if not members and (self.bare_null is None or column.binary):
            return None

        def told(value: Value) -> Value:
            text = value if value is None or not members else member_text(column, value).encode()
            return None if text == self.bare_null else text

        return told
