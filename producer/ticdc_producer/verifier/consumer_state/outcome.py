"""What the comparison of a consumer's tables came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ticdc_producer.model.event import Value
from ticdc_producer.model.json_value import to_json
from ticdc_producer.verifier.consumer_state.cell import UNREADABLE

Kind: TypeAlias = Literal["missing", "extra", "different"]


@dataclass(frozen=True, kw_only=True)
class RowDifference:
    """One row that is not as expected.

    :param kind: ``missing``: expected and not there; ``extra``: there and not expected; ``different``.
    :param key: columns that tell the row; all of them where there is no handle key.
    :param expected: the other columns as expected, for ``missing`` all, for ``different`` those that differ.
    :param actual: likewise as they are.
    """

    kind: Kind
    key: Mapping[str, Value]
    expected: Mapping[str, Value]
    actual: Mapping[str, Value]

    def to_json(self) -> dict[str, Any]:
        """The fields; values as in a golden folder's state."""
        sides = {"key": self.key, "expected": self.expected, "actual": self.actual}
        return {"kind": self.kind} | {
            side: {name: json_value(value) for name, value in values.items()}
            for side, values in sides.items()
        }


def json_value(value: Value) -> Any:
    """The JSON form; of what is no value of its column's type ``{"unreadable": …}``."""
    if value is not None and value.startswith(UNREADABLE):
        return {"unreadable": to_json(value.removeprefix(UNREADABLE))}
    return to_json(value)


@dataclass(frozen=True, kw_only=True)
class TableOutcome:
    """One table.

    :param actual: the name of the consumer's table; empty where it has none.
    :param expected_rows: how many rows are expected; of a table that is not there 0, as they were not read.
    :param missing_columns: columns that should be there.
    :param extra_columns: columns that nobody expects.
    :param examples: some of the rows that differ, by kind and key.
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

    def to_json(self) -> dict[str, Any]:
        """The fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        examples = [one.to_json() for one in self.examples]
        columns = {name: list(fields[name]) for name in ("missing_columns", "extra_columns")}
        return {"ok": self.ok, **fields, **columns, "examples": examples}


@dataclass(frozen=True, kw_only=True)
class StateOutcome:
    """All tables.

    :param source: where the consumer's tables are, without passwords.
    :param at: the time stamp whose state was expected; None: the end.
    :param protocol: whose losses were allowed for.
    :param ignored: columns that were left out, as the user named them.
    """

    source: str
    at: int | None
    protocol: str
    tables: tuple[TableOutcome, ...]
    ignored: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return all(table.ok for table in self.tables)

    def to_json(self) -> dict[str, Any]:
        """The fields as keys, and ``ok``."""
        return {
            "ok": self.ok,
            "source": self.source,
            "at": self.at,
            "protocol": self.protocol,
            "ignored": list(self.ignored),
            "tables": [table.to_json() for table in self.tables],
        }
