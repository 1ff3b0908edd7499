"""What Debezium does not carry, beyond what ``Fidelity`` describes for every protocol.

Values that arrive changed with any options:

- NULL in a column with a DEFAULT arrives as the DEFAULT (for ``CURRENT_TIMESTAMP``: 0 in a DATETIME column,
  NULL in a TIMESTAMP column);
- DECIMAL arrives as the nearest float64, without its scale;
- DATE and DATETIME with a year below 100 arrive in 1970 … 2069. The zero date (for DATE any impossible date)
  arrives as NULL, or as 1970-01-01 if the column is NOT NULL;
- the fractional digits of DATETIME and TIME arrive without trailing zeros; the zero TIMESTAMP arrives without
  fractional digits;
- a TIMESTAMP whose wall time in the changefeed's time zone is before 1970-01-01 00:00:01 arrives as the zero
  TIMESTAMP;
- a wall time of TIMESTAMP that occurs twice in the changefeed's time zone arrives as one of the two instants;
- an empty ENUM member and the empty error value arrive as the same value, as do members that differ only in
  ``''`` and ``'``. Members after a member that ends with a backslash may arrive as an earlier one;
- a SET mask beyond the members arrives as 0.

Events: DDLs arrive without their type; rows arrive without row id and physical table id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.fidelity import AsHashed, Fidelity, ValueProjection
from ticdc_producer.model.mysql_type import INTEGERS, LOBS, STRINGS, MySQLType, type_names
from ticdc_producer.protocols.debezium.ddl_message import has_message
from ticdc_producer.protocols.debezium.observed_value import value_projection
from ticdc_producer.protocols.debezium.options import DebeziumOptions

T = MySQLType

# The smallest SQL type with the Kafka Connect type and the logical type, for messages without ``tidb_type``.
_CONNECT = {
    T.TINY: "smallint", T.INT24: "int", T.LONGLONG: "bigint", T.DOUBLE: "double", T.NEW_DECIMAL: "double",
    T.JSON: "json", T.DATE: "date", T.NEW_DATE: "date", T.DATETIME: "datetime", T.TIMESTAMP: "timestamp",
    T.DURATION: "time", T.YEAR: "year", T.BIT: "bit", T.ENUM: "enum", T.SET: "set",
    T.VECTOR_FLOAT32: "vector",
}  # fmt: skip
# Types whose values are decoded to the text that TiCDC hashes for dispatch.
_NUMBERS = INTEGERS | {T.YEAR, T.BIT}
_WITHOUT_EXTENSION = sorted(type_names(_NUMBERS - {T.LONGLONG}))
_WITH_EXTENSION = sorted(type_names(_NUMBERS | STRINGS - {T.VAR_STRING} | LOBS, unsigned=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumFidelity(Fidelity):
    """The fidelity of Debezium. How exact column types are depends on the options:

    - with the TiDB extension: the SQL type without parameters (DECIMAL without UNSIGNED);
    - without it: Kafka Connect's type. Integers have the smallest type that fits (a large BIGINT UNSIGNED
      stays negative); CHAR, TEXT and byte strings have the same type, byte strings as Base64;
    - without a schema: no type, only the JSON values. Dates are numbers, ENUM and SET members are texts.
    """

    options: DebeziumOptions

    def visible_flag(self, flag: int) -> int:
        """The flag of the handle key, for the columns of the message key; no other flag is visible."""
        return int(flag & ColumnFlag.HANDLE_KEY)

    def visible_type(self, column: ColumnInfo, flag: int) -> str:  # noqa: ARG002  # does not depend on flags
        if self.options.debezium_disable_schema:
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

    def visible_ddl_type(self, action: int) -> int:  # noqa: ARG002  # no DDL has a visible type
        return 0

    def ddl_skip_reason(self, action: int) -> str:
        return "" if has_message(action) else "TiCDC's Debezium encoder has no message for such a DDL"

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        return value_projection(column, self.options)

    @property
    def hashed_types(self) -> Mapping[str, AsHashed]:
        """Without the extension a text may be Base64, and a negative number may be a large unsigned one."""
        if self.options.debezium_disable_schema:
            return {}
        if self.options.enable_tidb_extension:
            return dict.fromkeys(_WITH_EXTENSION, "always")
        return {**dict.fromkeys(_WITHOUT_EXTENSION, "always"), "bigint": "unless negative"}


def fidelity_of(options: DebeziumOptions) -> DebeziumFidelity:
    """The fidelity of an encoder with these options."""
    return DebeziumFidelity(
        # Updates without an old image still have the op of an update.
        old_values="all" if options.output_old_value else "none",
        sql_types=options.enable_tidb_extension and not options.debezium_disable_schema,
        float_decimals=True,
        table_ids="none",
        resolved=options.enable_tidb_extension,
        damaged_text=STRINGS | LOBS if options.invalid_utf8 == "replace" else frozenset(),
        options=options,
    )
