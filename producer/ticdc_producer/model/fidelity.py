"""The properties of events that a protocol with its options carries, and those that it loses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import DDLEvent, Op, Value
from ticdc_producer.model.mysql_type import MySQLType, bare_name
from ticdc_producer.model.table import TableInfo
from ticdc_producer.model.tso import LOGICAL_BITS

if TYPE_CHECKING:
    import pyarrow as pa


def replace_invalid(value: bytes) -> bytes:
    """Replace each byte that is not part of valid UTF-8 by U+FFFD.

    Every byte is replaced separately, not every invalid sequence. Source: Go ``unicode/utf8.DecodeRune``.
    """
    text = value.decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\udc80" <= char <= "\udcff" else char for char in text).encode()


TableIDs: TypeAlias = Literal["partitions", "all", "none"]
OldValues: TypeAlias = Literal["all", "updated", "none"]
CommitTs: TypeAlias = Literal["exact", "milliseconds", "seconds", "not deletes", "none"]
AsHashed: TypeAlias = Literal["always", "unless negative"]
COARSE: Mapping[CommitTs, int] = {"milliseconds": 1, "seconds": 1000}
"""The units of time to which a commit-ts can be rounded down, in milliseconds."""


def has_commit_ts(commit_ts: CommitTs) -> bool:
    """Return whether all rows carry their commit-ts, at least to the second."""
    return commit_ts in ("exact", *COARSE)


ValueProjection: TypeAlias = Callable[[Value], Value]
"""Maps a column value to the value that a reader of the messages gets."""
StoredValues: TypeAlias = "Callable[[pa.Array], pa.Array]"
"""Maps the values that a reader of the messages gets to those of the column, both as binary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fidelity:
    """The properties of events that the messages of a codec carry.

    The verifier reduces the expected events accordingly.

    A codec that loses more overrides the ``visible_`` methods. Each returns what a reader of the messages
    can know of one property.

    :param sorted_columns: whether columns are sent in the byte order of their names instead of table order.
    :param old_values: which columns of an update's old image are sent.
    :param always_old: types whose old value is sent although the update did not change it.
    :param names_operation: whether a message names its operation. If not, an update without an old image
        reads as an insert.
    :param deletes: which columns of a delete are sent.
    :param sql_types: whether the SQL types of columns are sent.
    :param float_decimals: whether DECIMAL is sent as the nearest float64.
    :param flags: whether column flags are sent. Without them a reader knows only the handle key.
    :param caches_flags: whether rows of partitions have the flags of an earlier version of their table.
    :param table_ids: which rows carry their physical table id: those of partitioned tables, all, or none.
    :param commit_ts: precision of the commit-ts of rows and DDLs: exact, to the millisecond or second, exact
        except for deletes, or absent (0).
    :param exact_commit_ts_with: the option with which the protocol sends an exact commit-ts; empty: none.
    :param resolved: whether resolved events are sent.
    :param damaged_text: text types in which each byte that is not UTF-8 becomes U+FFFD.
    :param row_checksums: whether rows carry checksums over their columns.
    """

    sorted_columns: bool = False
    old_values: OldValues = "all"
    always_old: frozenset[MySQLType] = frozenset()
    names_operation: bool = True
    deletes: Literal["all", "handle-key"] = "all"
    sql_types: bool = True
    float_decimals: bool = False
    flags: bool = True
    caches_flags: bool = False
    table_ids: TableIDs = "partitions"
    commit_ts: CommitTs = "exact"
    exact_commit_ts_with: str = ""
    resolved: bool = True
    damaged_text: frozenset[MySQLType] = frozenset()
    row_checksums: bool = False

    def visible_commit_ts(self, commit_ts: int, op: Op | None = None) -> int:
        """Return the commit-ts that a reader gets: exact, the first one of its time unit, or 0.

        :param op: the row's operation; None for a DDL.
        """
        match self.commit_ts:
            case "milliseconds" | "seconds" as unit:
                return commit_ts - commit_ts % (COARSE[unit] << LOGICAL_BITS)
            case "none":
                return 0 if op is not None else commit_ts
            case "not deletes":
                return 0 if op == Op.DELETE else commit_ts
        return commit_ts

    def last_equal_ts(self, commit_ts: int) -> int:
        """Return the last commit-ts that a reader cannot distinguish from another one."""
        unit = COARSE.get(self.commit_ts, 0) << LOGICAL_BITS
        return commit_ts - commit_ts % unit + unit - 1 if unit else commit_ts

    def visible_name(self, name: str) -> str:
        """Return the name of a database, table or column in row events."""
        return name

    def visible_flag(self, flag: int, /) -> int:
        """Return the bits of a column's flag that a reader knows."""
        return flag if self.flags else int(flag & ColumnFlag.HANDLE_KEY)

    def visible_type(self, column: ColumnInfo, flag: int, /) -> str:
        """Return the type text of a column that a reader gets.

        :param flag: the column's complete flag.
        """
        visible = self.visible_flag(flag)
        binary, unsigned = bool(visible & ColumnFlag.BINARY), bool(visible & ColumnFlag.UNSIGNED)
        return bare_name(column.type, binary=binary, unsigned=unsigned)

    def visible_ddl_type(self, action: int, /) -> int:
        """Return TiDB's action code of a DDL; 0 if a reader cannot know it."""
        return action

    def visible_ddl_names(
        self, event: DDLEvent, _table: TableInfo | None, _before: TableInfo | None, /
    ) -> tuple[str, str]:
        """Return the database and the table that the message of a DDL names.

        :param _table: the table after the DDL.
        :param _before: the table before the DDL.
        """
        return event.schema, event.table

    def ddl_skip_reason(self, _action: int, /) -> str:
        """Return why the protocol has no message for DDLs of this action code; empty if it has one."""
        return ""

    def replaces_invalid_utf8(self, column: ColumnInfo) -> bool:
        """Return whether invalid UTF-8 in a column arrives as U+FFFD. Byte strings are never changed."""
        return column.type in self.damaged_text and not column.binary

    def value_projection(self, _column: ColumnInfo, /) -> ValueProjection | None:
        """Return the function by which the protocol changes a column's values; None: it changes none.

        Invalid UTF-8 is not part of it.
        """
        return None

    def stored_values(self, _column: ColumnInfo, /) -> StoredValues | None:
        """Return the inverse of ``value_projection`` if there is one; None: a reader gets the values.

        A value whose projection is that of another one becomes one of those with this projection.
        """
        return None

    def full_projection(self, column: ColumnInfo) -> ValueProjection:
        """Combine ``value_projection`` and the replacement of invalid UTF-8 in one function."""
        projection, repairs = self.value_projection(column), self.replaces_invalid_utf8(column)

        def project(value: Value) -> Value:
            projected = projection(value) if projection else value
            return replace_invalid(projected) if repairs and projected is not None else projected

        return project

    @property
    def hashed_types(self) -> Mapping[str, AsHashed] | None:
        """Visible types whose values read as the text that TiCDC hashes for dispatch; None: all types."""
        return None

    @property
    def unique_columns(self) -> bool:
        """Whether a reader knows the columns of unique keys other than the handle key."""
        return bool(self.visible_flag(ColumnFlag.UNIQUE_KEY))

    @property
    def marks_handle_keys(self) -> bool:
        """Whether a reader knows the handle key of every table, not only primary keys."""
        return bool(self.visible_flag(ColumnFlag.HANDLE_KEY))

    @property
    def has_old_values(self) -> bool:
        """Whether updates have an old image."""
        return self.old_values != "none"

    @property
    def has_table_ids(self) -> bool:
        """Whether rows of partitioned tables carry the id of their table partition."""
        return self.table_ids != "none"

    @property
    def distinguishes_updates(self) -> bool:
        """Whether an update never reads as an insert.

        A complete old image is never empty, so it identifies an update without the operation's name.
        """
        return self.names_operation or self.old_values == "all"

    def handle_key_visible(self, table: TableInfo) -> bool:
        """Return whether a reader knows the handle key of a table, and so can distinguish its rows."""
        return any(self.visible_flag(flag) & ColumnFlag.HANDLE_KEY for flag in table.sent_flags)
