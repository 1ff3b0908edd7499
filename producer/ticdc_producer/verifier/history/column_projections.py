"""The values of columns in the common form, for one side."""

from __future__ import annotations

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.verifier.event_layouts import (
    DescribedColumn,
)
from ticdc_producer.verifier.history.common_form import Projection, Projections, applied
from ticdc_producer.verifier.history.definitions import KnownDefinition, described_column
from ticdc_producer.verifier.history.history_rows import TableName
from ticdc_producer.verifier.history.known_side import KnownSide


class ColumnProjections:
    """How the values of columns become the common form, for one side.

    :ivar unreadable: columns that are not compared.
    """

    def __init__(self, known: KnownSide) -> None:
        self.unreadable: set[str] = set()
        self._known, self._of_column = known, dict[ColumnInfo, Projections | None]()

    def of(
        self, table: TableName, column: DescribedColumn, definition: KnownDefinition
    ) -> tuple[Projection | None, bool]:
        """Return the projection of a column, None if there is none, and whether the column is compared."""
        form, side = self._known.form, self._known.side
        if form.fidelities[0] == form.fidelities[1]:
            return None, True  # both change values alike
        other = self._known.described.get(table, {}).get(column.name)
        info = definition.columns.get(column.name) or described_column(column)
        if info is None and other is not None:
            info = described_column(other)
        if info is None:
            return None, True
        if info not in self._of_column:
            self._of_column[info] = form.projections(info)
        chosen = self._of_column[info]
        if chosen is None:
            self.unreadable.add(f"{'.'.join(table)}.{column.name}")
            return None, False
        return chosen[side], True


def readable(projection: Projection | None, value: bytes | None) -> bytes | None:
    """Return a value in the common form; one that is none of its type stays as it is."""
    try:
        return applied(projection, value)
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return value
