"""What lines of CSV carry."""

from __future__ import annotations

from dataclasses import dataclass

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity, ValueProjection
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.protocols.member_text import member_text
from ticdc_producer.protocols.storage.schema_file import column_type

_PRIMARY = ColumnFlag.PRIMARY_KEY | ColumnFlag.HANDLE_KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class CSVFidelity(Fidelity):
    """What lines of CSV carry. Types and key are those of schema files; ENUM and SET are texts.

    :param bare_null: the text of NULL, if nothing is quoted and a text may be equal to it; otherwise None.
    """

    bare_null: bytes | None = None

    def visible_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # the type text does not depend on the flag
        return column_type(column).lower()

    def visible_flag(self, flag: int) -> int:
        return int(_PRIMARY) if flag & ColumnFlag.PRIMARY_KEY else 0

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        members = column.type in (MySQLType.ENUM, MySQLType.SET)
        if not members and (self.bare_null is None or column.binary):
            return None

        def project(value: Value) -> Value:
            text = value if value is None or not members else member_text(column, value).encode()
            return None if text == self.bare_null else text

        return project
