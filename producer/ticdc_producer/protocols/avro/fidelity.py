"""What Avro does not carry.

Rows: the old image of an update; of a delete all but its key; without the extension the operation and the
commit-ts, with it those of deletes. Names arrive as Avro allows them. Types: of integers narrower than
BIGINT their width, of texts and byte strings which of them, of FLOAT, DOUBLE and DECIMAL that they are
unsigned. Values: of members that read alike in the schema's list the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Losses, Reduction
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.protocols.allowed_members import escaped, places_of
from ticdc_producer.protocols.avro.names import sanitized
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.avro.table_schema import key_flag
from ticdc_producer.protocols.avro.tidb_type import tidb_type, type_text
from ticdc_producer.protocols.member_text import member_text

T = MySQLType


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroLosses(Losses):
    """Avro's own account.

    :param key_flag: of the columns that message keys have.
    """

    key_flag: ColumnFlag = ColumnFlag.HANDLE_KEY

    @classmethod
    def of(cls, options: AvroOptions) -> AvroLosses:
        """What these options leave out."""
        return cls(
            old_values="none",
            names_operation=options.enable_tidb_extension,
            deletes="handle-key",
            table_ids="none",
            commit_ts="not deletes" if options.enable_tidb_extension else "none",
            resolved=options.sends_watermarks,
            key_flag=key_flag(options),
        )

    def told_flag(self, flag: int) -> int:
        """The message key names the handle key."""
        return int(ColumnFlag.HANDLE_KEY) if flag & self.key_flag else 0

    def told_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # told without flags
        return type_text(tidb_type(column))

    def told_name(self, name: str) -> str:
        return sanitized(name)

    def omits_ddl(self, action: int) -> str:  # noqa: ARG002  # of none
        return "" if self.resolved else "Avro has no message for DDLs"

    def told_value(self, column: ColumnInfo) -> Reduction | None:
        if column.type == T.ENUM:
            return partial(_enum, places_of(",".join(map(escaped, column.elements))), column)
        return (
            partial(_set, [escaped(member) for member in column.elements]) if column.type == T.SET else None
        )


def _enum(places: Mapping[str, int], column: ColumnInfo, value: Value) -> Value:
    return None if value is None else b"%d" % places.get(escaped(member_text(column, value)), 0)


def _set(members: Sequence[str], value: Value) -> Value:
    if value is None:
        return None
    mask = int(value)
    if mask >> len(members):
        return b"0"
    chosen = {members.index(member) for place, member in enumerate(members) if mask >> place & 1}
    return b"%d" % sum(1 << place for place in chosen)
