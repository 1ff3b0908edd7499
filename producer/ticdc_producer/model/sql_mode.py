"""The session settings that affect the coercion of values: sql_mode, time zone, checks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from ticdc_producer.errors import ScenarioError

DEFAULT_SQL_MODE = (
    "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
    "NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
)
DEFAULT_NOW = datetime(2021, 12, 20, 13, 30, 49, tzinfo=UTC)
_MAX_DISPLAY_LENGTH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class SQLMode:
    """The session settings for coercions.

    :param sql_mode: value of the variable, which the fields up to ``division_by_zero_error``,
        ``auto_value_on_zero`` and ``only_full_group_by`` follow.
    :param strict: STRICT_TRANS_TABLES: a value that does not fit is an error; without it the value is cut to
        fit.
    :param zero_dates: NO_ZERO_DATE is off: ``0000-00-00`` is accepted.
    :param zero_in_date: NO_ZERO_IN_DATE is off: ``2021-00-00`` is accepted.
    :param invalid_dates: ALLOW_INVALID_DATES: every month of a DATE or DATETIME has 31 days.
    :param zone: the session's time zone; TIMESTAMP columns store UTC.
    :param auto_value_on_zero: NO_AUTO_VALUE_ON_ZERO is off: 0 in an AUTO_INCREMENT column is the next id.
    :param now: the value of ``NOW()``.
    :param now_moves: whether ``now`` is the time of the transaction's commit; False: it is fixed.
    :param utf8_check: False with ``tidb_skip_utf8_check``: text columns accept any bytes.
    :param foreign_key_checks: whether foreign keys are enforced.
    :param only_full_group_by: ONLY_FULL_GROUP_BY: a group must determine all selected columns.
    :param autocommit: whether a statement outside of BEGIN … COMMIT is a transaction of its own.
    """

    sql_mode: str = DEFAULT_SQL_MODE
    strict: bool = True
    zero_dates: bool = False
    zero_in_date: bool = False
    invalid_dates: bool = False
    division_by_zero_error: bool = True
    auto_value_on_zero: bool = True
    zone: tzinfo = UTC
    now: datetime = DEFAULT_NOW
    now_moves: bool = False
    utf8_check: bool = True
    foreign_key_checks: bool = True
    only_full_group_by: bool = True
    autocommit: bool = True

    def reject(self, column: str, value: object, what: str, instead: bytes) -> bytes:
        """Refuse a value in strict mode; otherwise return ``instead``, the value that TiDB stores.

        :param what: the violated rule, which precedes ``for column …`` in the message.
        :raises ScenarioError: in strict mode, with ``column`` and ``value`` set.
        """
        if self.strict:
            raise value_error(column, value, what)
        return instead


def value_error(column: str, value: object, what: str) -> ScenarioError:
    """The error for one value of one column."""
    text = display_value(value)
    return ScenarioError(f"{what} for column {column!r}: {text!r}", column=column, value=text)


def display_value(value: object) -> str:
    """A value for display in a message: text as it is, bytes in hex, cut to a readable length."""
    if isinstance(value, bool):
        value = int(value)
    text = value.hex() if isinstance(value, bytes) else str(getattr(value, "text", lambda: value)())
    text = text.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= _MAX_DISPLAY_LENGTH else text[:_MAX_DISPLAY_LENGTH] + "…"
