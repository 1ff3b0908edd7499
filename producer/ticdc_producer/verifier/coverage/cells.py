"""The view ``cell``: the values of columns.

Types are compared without their parameters, because protocols differ in them; values are the canonical text
that all decoders return. Updates count with their new image, deletes with their old image.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.model.fidelity import replace_invalid
from ticdc_producer.verifier.coverage.occurrences import Constants, FeatureCounts, ViewEvents
from ticdc_producer.verifier.fingerprint import Numbers
from ticdc_producer.verifier.forms import Form, Images

_PARAMETERS = re.compile(r"\([^)]*\)")
_NUMBER = re.compile(r" *[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})? *", re.ASCII)
_DIGITS = 30
_DECIMAL = pa.decimal128(_DIGITS)


@dataclass(frozen=True)
class CellValues:
    """The values of a column in some rows; what only some conditions need is computed when they need it.

    :param value: bytes.
    """

    value: pa.Array

    def __getitem__(self, name: str) -> pa.Array:
        return getattr(self, name)

    @cached_property
    def text(self) -> pa.Array:
        """The values as text; a byte that is not UTF-8 is U+FFFD."""
        try:
            return self.value.cast(pa.string())
        except pa.ArrowInvalid:
            repaired = [None if value is None else replace_invalid(value) for value in self.value.to_pylist()]
            return pa.array(repaired, pa.binary()).cast(pa.string())

    @cached_property
    def number(self) -> pa.Array:
        """The values as whole numbers; NULL if they are no numbers, or have more than 30 digits."""
        plain = pc.match_substring_regex(self.text, r"^-?\d{1,30}$")
        if pc.all(plain).as_py():  # Arrow crashes on texts with large negative exponents
            return self.text.cast(_DECIMAL)
        return pa.array([_whole_number(text) for text in self.text.to_pylist()], _DECIMAL)

    @cached_property
    def different_bytes(self) -> pa.Array:
        """How many different bytes each value has."""
        values = self.value.to_pylist()
        return pa.array([None if value is None else len(set(value)) for value in values], pa.int32())


def _whole_number(text: str | None) -> Decimal | None:
    if text is None or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text).to_integral_value(ROUND_HALF_UP)
    return number if number.adjusted() < _DIGITS else None


class ColumnCells:
    """The cells of a batch by column, whatever other columns their rows have.

    :param old, new: the images of the batch.
    """

    def __init__(self, old: Images, new: Images) -> None:
        self._old, self._new = old, new
        self._cells: defaultdict[tuple[str, str, int, bool], list[tuple[Numbers, Numbers]]] = defaultdict(
            list
        )

    def add(self, form: Form) -> None:
        """Add the cells of a form."""
        starts = (self._old if form.deletes else self._new).lists.starts[form.rows]
        for column in form.columns:
            if column.name in form.key_image:
                scope = f"{form.schema}.{form.table}.{column.name}"
                key = scope, _plain_type(column.type), column.flag, form.deletes
                self._cells[key].append((form.rows, starts + form.key_image[column.name]))

    def add_to(self, counts: FeatureCounts, events: ViewEvents) -> None:
        """Count the features of all cells.

        :param events: where the rows of the batch are.
        """
        for (scope, kind, flag, deletes), cells in self._cells.items():
            rows, numbers = (np.concatenate(parts) for parts in zip(*cells, strict=True))
            values = (self._old if deletes else self._new).values.take(pa.array(numbers))
            constants: Constants = {"type": kind, "flag": flag}
            counts.add("cell", events.take(rows), CellValues(values), constants, scope)


@lru_cache
def _plain_type(text: str) -> str:
    return _PARAMETERS.sub("", text.lower()).strip(" ")
