"""What Avro does not carry.

- Rows: the old image of updates; the columns of deletes outside of the key; operation and commit-ts without
  the TiDB extension, and with it the commit-ts of deletes.
- Names: characters that Avro does not allow are replaced.
- Types: the width of integers narrower than BIGINT, the exact type of texts and byte strings, UNSIGNED of
  FLOAT, DOUBLE and DECIMAL.
- Values: of ENUM and SET members with the same text in the schema's list, the first one arrives; a SET of
  nothing but its empty member arrives as the empty set, which has the same text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import Fidelity, ValueProjection
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.protocols.allowed_members import escaped, member_indexes
from ticdc_producer.protocols.avro.names import sanitized
from ticdc_producer.protocols.avro.options import AvroOptions
from ticdc_producer.protocols.avro.table_schema import key_flag
from ticdc_producer.protocols.avro.tidb_type import tidb_type, type_text
from ticdc_producer.protocols.member_text import member_text

T = MySQLType


@dataclass(frozen=True, slots=True, kw_only=True)
class AvroFidelity(Fidelity):
    """The fidelity of Avro.

    :param key_flag: the flag of the columns in message keys.
    """

    key_flag: ColumnFlag = ColumnFlag.HANDLE_KEY

    @classmethod
    def of(cls, options: AvroOptions) -> AvroFidelity:
        """The fidelity of an encoder with these options."""
        return cls(
            old_values="none",
            names_operation=options.enable_tidb_extension,
            deletes="handle-key",
            table_ids="none",
            commit_ts="not deletes" if options.enable_tidb_extension else "none",
            resolved=options.sends_watermarks,
            key_flag=key_flag(options),
        )

    def visible_flag(self, flag: int) -> int:
        """The flag of the handle key, for the columns of the message key; no other flag is visible."""
        return int(ColumnFlag.HANDLE_KEY) if flag & self.key_flag else 0

    def visible_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # does not depend on flags
        return type_text(tidb_type(column))

    def visible_name(self, name: str) -> str:
        return sanitized(name)

    def ddl_skip_reason(self, action: int) -> str:  # noqa: ARG002  # all DDLs or none
        return "" if self.resolved else "Avro has no message for DDLs"

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        if column.type == T.ENUM:
            return partial(_enum, member_indexes(",".join(map(escaped, column.elements))), column)
        return (
            partial(_set, [escaped(member) for member in column.elements]) if column.type == T.SET else None
        )


def _enum(indexes: Mapping[str, int], column: ColumnInfo, value: Value) -> Value:
    return None if value is None else b"%d" % indexes.get(escaped(member_text(column, value)), 0)


def _set(members: Sequence[str], value: Value) -> Value:
    if value is None:
        return None
    mask = int(value)
    texts = [member for index, member in enumerate(members) if mask >> index & 1]
    if mask >> len(members) or texts == [""]:
        return b"0"
    chosen = {members.index(member) for member in texts}
    return b"%d" % sum(1 << index for index in chosen)
