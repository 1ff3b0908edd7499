"""The result of the comparison of a consumer's tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ticdc_producer.model.event import Value
from ticdc_producer.model.event_line import to_json
from ticdc_producer.verifier.consumer_state.canonical_value import UNREADABLE

Kind: TypeAlias = Literal["missing", "extra", "different"]


@dataclass(frozen=True, kw_only=True)
class RowDifference:
    """One row that differs from the expected rows.

    :param kind: ``missing`` (expected but absent), ``extra`` (not expected) or ``different``.
    :param key: values of the handle key; all columns without a handle key.
    :param expected: expected values of the other columns: all for ``missing``, those that differ for
        ``different``.
    :param actual: actual values of the other columns: all for ``extra``, those that differ for
        ``different``.
    """

    kind: Kind
    key: Mapping[str, Value]
    expected: Mapping[str, Value]
    actual: Mapping[str, Value]

    def to_json(self) -> dict[str, object]:
        """Return the fields, with values as in a golden folder's state."""
        sides = {"key": self.key, "expected": self.expected, "actual": self.actual}
        return {"kind": self.kind} | {
            side: {name: json_value(value) for name, value in values.items()}
            for side, values in sides.items()
        }


def json_value(value: Value) -> object:
    """Return a value as JSON; ``{"unreadable": …}`` for a value that is not of its column's type."""
    if value is not None and value.startswith(UNREADABLE):
        return {"unreadable": to_json(value.removeprefix(UNREADABLE))}
    return to_json(value)


@dataclass(frozen=True, kw_only=True)
class TableOutcome:
    """The comparison of one table.

    :param actual: name of the consumer's table; empty if it does not exist.
    :param expected_rows: number of expected rows; 0 if the consumer's table does not exist, because the
        rows are not read then.
    :param missing_columns: expected columns that the table lacks.
    :param extra_columns: columns of the table that are not expected.
    :param examples: some of the rows that differ, sorted by kind and key.
    """

    table: str
    actual: str
    expected_rows: int = 0
    actual_rows: int = 0
    missing: int = 0
    extra: int = 0
    different: int = 0
    missing_columns: tuple[str, ...] = ()
    extra_columns: tuple[str, ...] = ()
    examples: tuple[RowDifference, ...] = ()

    @property
    def ok(self) -> bool:
        rows = self.missing or self.extra or self.different
        return bool(self.actual) and not (rows or self.missing_columns or self.extra_columns)

    def to_json(self) -> dict[str, object]:
        """Return the fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        examples = [example.to_json() for example in self.examples]
        columns = {name: list(fields[name]) for name in ("missing_columns", "extra_columns")}
        return {"ok": self.ok, **fields, **columns, "examples": examples}


@dataclass(frozen=True, kw_only=True)
class StateOutcome:
    """The comparison of all tables.

    :param source: location of the consumer's tables, without passwords.
    :param at: time stamp (TSO) of the expected state; None: the end.
    :param protocol: the protocol whose fidelity was taken into account.
    :param ignored: columns that were not compared, as the user named them.
    """

    source: str
    at: int | None
    protocol: str
    tables: tuple[TableOutcome, ...]
    ignored: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return all(table.ok for table in self.tables)

    def to_json(self) -> dict[str, object]:
        """Return the fields as keys, and ``ok``."""
        return {
            "ok": self.ok,
            "source": self.source,
            "at": self.at,
            "protocol": self.protocol,
            "ignored": list(self.ignored),
            "tables": [table.to_json() for table in self.tables],
        }
