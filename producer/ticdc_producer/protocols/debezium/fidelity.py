"""What Debezium does not carry, beyond what ``Losses`` can say of every protocol.

Values that arrive changed, whatever the options:

- NULL of a column with a DEFAULT arrives as the DEFAULT (``CURRENT_TIMESTAMP``: 0 of a DATETIME, of a
  TIMESTAMP NULL);
- DECIMAL arrives as the nearest float64, without its scale;
- DATE and DATETIME with a year below 100 arrive in 1970 … 2069; the zero date (of DATE any impossible
  date) arrives as NULL, or as 1970-01-01 where the column is NOT NULL;
- the digits of fraction of DATETIME and TIME arrive without their trailing zeros, those of the zero
  TIMESTAMP not at all;
- a wall time of TIMESTAMP that occurs twice in the changefeed's time zone arrives as one of the two;
- an empty ENUM member and the empty error value arrive as one, as do members that differ in ``''`` and
  ``'`` only; those after a member that ends with a backslash may arrive as an earlier one;
- a SET mask beyond the members arrives as 0.

Events: a DDL arrives without its type; rows without their row id and physical table id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.fidelity import AsHashed, Losses, Reduction
from ticdc_producer.model.flags import ColumnFlag
from ticdc_producer.model.mysql_type import LOBS, STRINGS, MySQLType
from ticdc_producer.protocols.debezium.ddl_message import has_message
from ticdc_producer.protocols.debezium.observed_value import told_value
from ticdc_producer.protocols.debezium.options import DebeziumOptions

T = MySQLType

# Without ``tidb_type`` the smallest SQL type that has the Kafka Connect type and the logical type.
_CONNECT = {
    T.TINY: "smallint", T.INT24: "int", T.LONGLONG: "bigint", T.DOUBLE: "double", T.NEW_DECIMAL: "double",
    T.JSON: "json", T.DATE: "date", T.NEW_DATE: "date", T.DATETIME: "datetime", T.TIMESTAMP: "timestamp",
    T.DURATION: "time", T.YEAR: "year", T.BIT: "bit", T.ENUM: "enum", T.SET: "set",
    T.VECTOR_FLOAT32: "vector",
}  # fmt: skip
# Types whose values read as TiCDC hashes them.
_INTEGERS = ("tinyint", "smallint", "mediumint", "int")
_OTHERS = ("year", "bit")
_TEXTS = (
    "char", "varchar", "tinytext", "text", "mediumtext", "longtext",
    "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumLosses(Losses):
    """Debezium's own account. How exact column types are depends on the options:

    - with the extension: the SQL type without parameters (DECIMAL without UNSIGNED);
    - without: Kafka Connect's, so that integers are the smallest that fits (a large BIGINT UNSIGNED
      stays negative), and CHAR, TEXT and byte strings are one, bytes as Base64;
    - without a schema: none, the JSON values alone, so that dates are numbers and members are texts.
    """

    options: DebeziumOptions

    def told_flag(self, flag: int) -> int:
        """The message key names the handle key."""
        return int(flag & ColumnFlag.HANDLE_KEY)

    def told_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # told without flags
        if self.options.disable_schema:
            return ""
        if self.options.enable_tidb_extension:
            return "decimal" if column.type == T.NEW_DECIMAL else column.type_name
        match column.type:
            case T.SHORT:
                return "int" if column.unsigned else "smallint"
            case T.LONG:
                return "bigint" if column.unsigned else "int"
            case T.FLOAT:
                return "float" if column.decimal == -1 else "double"
        return _CONNECT.get(column.type, "varchar")

    def told_ddl_type(self, action: int) -> int:  # noqa: ARG002  # of none
        return 0

    def omits_ddl(self, action: int) -> str:
        return "" if has_message(action) else "TiCDC's Debezium encoder has no message for such a DDL"

    def told_value(self, column: ColumnInfo) -> Reduction | None:
        return told_value(column, self.options)

    @property
    def hashed_types(self) -> Mapping[str, AsHashed]:
        """Without the extension a text may be Base64, a negative number a large unsigned one."""
        if self.options.disable_schema:
            return {}
        if self.options.enable_tidb_extension:
            integers = [f"{name}{sign}" for name in (*_INTEGERS, "bigint") for sign in ("", " unsigned")]
            return dict.fromkeys([*integers, *_OTHERS, *_TEXTS], "always")
        return {**dict.fromkeys([*_INTEGERS, *_OTHERS], "always"), "bigint": "unless negative"}


def losses_of(options: DebeziumOptions) -> DebeziumLosses:
    """What these options leave out."""
    return DebeziumLosses(
        # An update without the old image still says that it is one.
        old_values="all" if options.output_old_value else "none",
        table_ids="none",
        resolved=options.enable_tidb_extension,
        damaged_text=STRINGS | LOBS if options.invalid_utf8 == "replace" else frozenset(),
        options=options,
    )
