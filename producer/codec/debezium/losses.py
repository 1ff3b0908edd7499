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

from dataclasses import dataclass
from typing import Literal

from producer.codec.debezium.options import DebeziumOptions
from producer.model.losses import Losses


@dataclass(frozen=True, slots=True, kw_only=True)
class DebeziumLosses(Losses):
    """Debezium's own account.

    :param types: how exact column types are. ``tidb``: the SQL type without parameters (DECIMAL without
        UNSIGNED). ``connect``: Kafka Connect's, so that integers are the smallest that fits (a large
        BIGINT UNSIGNED stays negative), and CHAR, TEXT and byte strings are one, bytes as Base64.
        ``none``: the JSON values alone, so dates are numbers, members are texts, too.
    :param invalid_utf8: whether bytes of text that are not UTF-8 became U+FFFD.
    """

    types: Literal["tidb", "connect", "none"] = "connect"
    invalid_utf8: bool = False


def losses_of(options: DebeziumOptions) -> DebeziumLosses:
    """What these options leave out."""
    exact: Literal["tidb", "connect"] = "tidb" if options.enable_tidb_extension else "connect"
    return DebeziumLosses(
        sorted_columns=False,
        # An update without the old image still says that it is one.
        old_values="all" if options.output_old_value else "none",
        flags=False,
        types="none" if options.disable_schema else exact,
        invalid_utf8=options.invalid_utf8 == "replace",
    )
