"""The fidelity of Debezium in Avro: the properties of events that its messages do not preserve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from ticdc_producer.model.column import ColumnFlag, ColumnInfo
from ticdc_producer.model.event import Value
from ticdc_producer.model.fidelity import AsHashed, Fidelity, ValueProjection
from ticdc_producer.model.mysql_type import MySQLType
from ticdc_producer.model.values.number_text import plain_text
from ticdc_producer.protocols.avro.schemas import is_decimal
from ticdc_producer.protocols.debezium.fidelity import DebeziumFidelity
from ticdc_producer.protocols.debezium.plan import logical_name, tidb_type
from ticdc_producer.protocols.debezium_avro.columns import untyped_name
from ticdc_producer.protocols.debezium_avro.connect import DECIMAL
from ticdc_producer.protocols.debezium_avro.plan import decimal_default
from ticdc_producer.protocols.debezium_avro.schemas import kind_of
from ticdc_producer.protocols.row_options import DebeziumAvroOptions

T = MySQLType


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumAvroFidelity(Fidelity):
    """The fidelity of Debezium in Avro. Values are those of Debezium's JSON with the TiDB extension, but:

    - DECIMAL arrives exactly; NULL of a column with a DEFAULT, as the DEFAULT;
    - a BIGINT UNSIGNED that ``long`` cannot hold is refused.

    Types are those of TiDB with the extension. Without it they are Connect's, and a BIGINT UNSIGNED or
    DECIMAL as text is a text. A FLOAT(M,D) is then a ``double`` with the digits of its 32 bits: 0.1 arrives
    as 0.10000000149011612.
    """

    options: DebeziumAvroOptions

    @classmethod
    def of(cls, options: DebeziumAvroOptions) -> DebeziumAvroFidelity:
        """Return the fidelity of an encoder with these options."""
        return cls(
            old_values="all" if options.output_old_value else "none",
            sql_types=options.enable_tidb_extension,
            table_ids="none",
            resolved=options.sends_watermarks,
            options=options,
        )

    @property
    def _of_json(self) -> DebeziumFidelity:
        return DebeziumFidelity.of(self.options.of_json)

    def visible_flag(self, flag: int, /) -> int:
        """Return the flag of the handle key for the columns of the message key; no other flag is visible."""
        return int(flag & ColumnFlag.HANDLE_KEY)

    def visible_type(self, column: ColumnInfo, _flag: int, /) -> str:
        if self.options.enable_tidb_extension:
            return tidb_type(column)
        name = DECIMAL if is_decimal(column, self.options) else logical_name(column)
        return untyped_name(kind_of(column, self.options), name)

    def visible_ddl_type(self, _action: int, /) -> int:
        return 0

    def ddl_skip_reason(self, action: int) -> str:
        if not self.options.sends_watermarks:
            return "Debezium in Avro has no message for DDLs without avro-enable-watermark"
        return self._of_json.ddl_skip_reason(action)

    def value_projection(self, column: ColumnInfo) -> ValueProjection | None:
        if column.type != T.NEW_DECIMAL:
            projection = self._of_json.value_projection(column)
            widens = column.type == T.FLOAT and self.visible_type(column, 0) == "double"
            return partial(_widened, projection) if widens else projection
        default = decimal_default(column, self.options)
        if default is None:
            return None
        return lambda value: default if value is None else value

    @property
    def hashed_types(self) -> Mapping[str, AsHashed]:
        """The types whose values can be hashed as in TiCDC."""
        return self._of_json.hashed_types if self.options.enable_tidb_extension else {}


def _widened(projection: ValueProjection | None, value: Value) -> Value:
    text = projection(value) if projection else value
    return None if text is None else plain_text(float(np.float32(float(text))), T.DOUBLE)
