"""The columns of a small frame by their names without case."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pyarrow as pa

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest


class FrameColumns:
    """The columns of a frame, which are found by their names without case.

    :raises ScenarioError: for two columns with one name.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self._names: dict[str, str] = {}
        for name in table.column_names:
            if name.lower() in self._names:
                raise ScenarioError(f"column {name!r} is not unique", column=name)
            self._names[name.lower()] = name

    def has(self, name: str) -> bool:
        return name.lower() in self._names

    def check_names(self, known: Sequence[str]) -> None:
        """Refuse a column that is none of the known ones."""
        for lower, name in self._names.items():
            if lower not in known:
                what = f"column {name!r} of the DataFrame is unknown"
                raise ScenarioError(what, column=name, hint=nearest(name, known))

    def values(self, name: str) -> list[object]:
        if not self.has(name):
            what = f"the DataFrame has no column {name!r}"
            raise ScenarioError(what, column=name, hint=nearest(name, self._table.column_names))
        values: list[object] = self._table.column(self._names[name.lower()]).to_pylist()
        return values

    def texts(self, name: str) -> list[object]:
        values, kind = self.values(name), self._table.schema.field(self._names[name.lower()]).type
        if not (_is_text(kind) or pa.types.is_null(kind)):
            raise ScenarioError(f"the operation must be text, not {kind}", column=name)
        return values

    def integers(self, name: str) -> list[int]:
        """Return the numbers of a column; NULL is refused."""
        values, kind = self.values(name), self._table.schema.field(self._names[name.lower()]).type
        if not pa.types.is_integer(kind):
            raise ScenarioError(f"order column {name!r} must be an integer column, not {kind}", column=name)
        if None in values:
            raise ScenarioError(f"{name!r} is NULL, in row {values.index(None)}", column=name)
        return cast(list[int], values)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
