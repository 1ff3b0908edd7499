"""The form in which two streams are compared: what the protocols of both carry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from ticdc_producer.model.column import ColumnInfo
from ticdc_producer.model.column_functions import Flags, Numbers
from ticdc_producer.model.event import Op, Value
from ticdc_producer.model.fidelity import COARSE, Fidelity, has_commit_ts, replace_invalid
from ticdc_producer.model.mysql_type import TYPES, MySQLType, integer_range
from ticdc_producer.model.tso import LOGICAL_BITS

Projection: TypeAlias = Callable[[Value], Value]
Projections: TypeAlias = tuple[Projection | None, Projection | None]
"""What is applied to the values of each of the two streams; None: they are compared as they are."""
_MEMBERS = (MySQLType.ENUM, MySQLType.SET)
CONVERSION_ERRORS = (ValueError, TypeError, LookupError, ArithmeticError)
"""Exceptions of a projection that is applied after another one."""


@dataclass(frozen=True)
class CommonForm:
    """The common form of two streams.

    :param fidelities: of the two.
    """

    fidelities: tuple[Fidelity, Fidelity]

    def _both(self, test: Callable[[Fidelity], bool]) -> bool:
        return all(map(test, self.fidelities))

    def name(self, text: str) -> str:
        """Return a name of a database, table or column as both carry it."""
        first, second = self.fidelities
        return first.visible_name(second.visible_name(text))

    @property
    def changes_names(self) -> bool:
        """Whether one of the protocols replaces characters of names."""
        return self.name("-") != "-"

    @property
    def in_order_of_time(self) -> bool:
        """Whether all rows of both have a commit-ts, at least to the second."""
        return self._both(lambda fidelity: has_commit_ts(fidelity.commit_ts))

    @property
    def upserts(self) -> bool:
        """Whether an update of one of them may read as an insert."""
        return not self._both(lambda fidelity: fidelity.distinguishes_updates)

    @property
    def old_values(self) -> bool:
        """Whether updates of both have an old image."""
        return not self.upserts and self._both(lambda fidelity: fidelity.has_old_values)

    @property
    def deleted_values(self) -> bool:
        """Whether deletes of both have all columns."""
        return self._both(lambda fidelity: fidelity.deletes == "all")

    @property
    def descriptions(self) -> bool:
        """Whether columns are described alike: types and flags can be compared."""
        first, second = self.fidelities
        return first == second and not first.caches_flags

    @property
    def unit(self) -> int:
        """The unit of time in which both have their commit-ts, in milliseconds; 0: they are exact."""
        return max(COARSE.get(fidelity.commit_ts, 0) for fidelity in self.fidelities)

    @property
    def ticks(self) -> int:
        """The number of TSOs that are rounded to one; 0: commit-ts are exact."""
        return self.unit << LOGICAL_BITS

    def times(self, commit_ts: Numbers, deletes: Flags | bool = False) -> Numbers:
        """Return the commit-ts of events as both carry them; 0 where one of them has none.

        >>> form = CommonForm((Fidelity(), Fidelity(commit_ts="milliseconds")))
        >>> form.times(np.array([(5 << 18) + 7])).tolist() == [5 << 18]
        True

        :param deletes: which of them are deletes of rows.
        """
        times = commit_ts - commit_ts % self.ticks if self.ticks else commit_ts
        precisions = {fidelity.commit_ts for fidelity in self.fidelities}
        if "none" in precisions:
            return np.zeros_like(times)
        return np.where(deletes, 0, times) if "not deletes" in precisions else times

    def operations(self, op: Numbers) -> Numbers:
        """Return the operations of rows as both carry them."""
        return np.where(op == Op.INSERT, int(Op.UPDATE), op) if self.upserts else op

    @property
    def changes_values(self) -> bool:
        """Whether one protocol changes values of some type that the other carries in another form."""
        first, second = self.fidelities
        return first != second and any(
            fidelity.value_projection(column) is not None
            for fidelity in self.fidelities
            for column in _columns_of_all_types()
        )

    def projections(self, column: ColumnInfo) -> Projections | None:
        """Return how values of a column are compared; None: their form in one protocol is unknown.

        Each side can be reduced by what the other protocol carries. The first combination under which sample
        values of the type agree is returned. Base64 of both sides is compared as it is. The index of an ENUM
        becomes its text; a text never becomes an index.
        """
        first, second = self.fidelities
        if first == second or _are_equal(first, second, column):
            return None, None
        if column.type in _MEMBERS and not column.elements:
            return None
        sent = _projection(first, column), _projection(second, column)
        values = [*_samples(column)]
        for second_too, first_too in product((False, True), repeat=2):
            common = sent[1] if first_too else None, sent[0] if second_too else None
            if _agree(values, sent, common):
                return common
        return None


def _are_equal(first: Fidelity, second: Fidelity, column: ColumnInfo) -> bool:
    """Return whether both carry a column's values unchanged, but for the same replacement of bytes."""
    unchanged = first.value_projection(column) is None and second.value_projection(column) is None
    return unchanged and first.replaces_invalid_utf8(column) == second.replaces_invalid_utf8(column)


def _agree(values: list[Value], sent: Projections, common: Projections) -> bool:
    try:
        return all(
            applied(common[0], applied(sent[0], value)) == applied(common[1], applied(sent[1], value))
            for value in values
        )
    except CONVERSION_ERRORS:
        return False


def _projection(fidelity: Fidelity, column: ColumnInfo) -> Projection | None:
    """Return how a protocol changes the values of a column; None: it changes none."""
    if fidelity.value_projection(column) is not None:
        return fidelity.full_projection(column)
    return repaired if fidelity.replaces_invalid_utf8(column) else None


def repaired(value: Value) -> Value:
    """Replace bytes that are not UTF-8; a text of UTF-8 is unchanged."""
    return value if value is None else replace_invalid(value)


def applied(projection: Projection | None, value: Value) -> Value:
    """Return the value in the common form."""
    return value if projection is None else projection(value)


def _columns_of_all_types() -> Iterator[ColumnInfo]:
    for code in TYPES:
        for charset in ("binary", "utf8mb4"):
            yield ColumnInfo(name="c", type=MySQLType(code), charset=charset, elements=("a",))


def _samples(column: ColumnInfo) -> Iterator[Value]:
    """Yield values of a column that show how protocols carry them."""
    yield None
    yield TYPES[column.type].zero or b""
    match TYPES[column.type].family:
        case "integer":
            yield from (b"%d" % bound for bound in integer_range(column.type, unsigned=column.unsigned))
        case "numbered" if column.type == MySQLType.ENUM:
            yield from (b"%d" % (number + 1) for number in range(len(column.elements)))
        case "numbered" if column.type == MySQLType.SET:
            yield from (b"%d" % (1 << number) for number in range(len(column.elements)))
            yield b"%d" % ((1 << len(column.elements)) - 1)
        case "numbered":
            bits = max(column.length, 1) if column.type == MySQLType.BIT else 0
            yield b"%d" % ((1 << bits) - 1) if bits else b"1999"
        case "float":
            yield from (b"1.5", b"-100", b"0.001")
        case "decimal":
            scale = 2 if column.decimal < 0 else column.decimal
            yield from (f"{number:.{scale}f}".encode() for number in (98765.4, -1.5, 10))
        case "temporal":
            yield from _moments(column)
        case "string" | "lob":
            yield from (b"a", b"7", "é".encode(), b"a\xffb")
        case _:
            yield from (edge.encode() for edge in TYPES[column.type].edges)


def _moments(column: ColumnInfo) -> Iterator[bytes]:
    spec = TYPES[column.type]
    digits = 6 if spec.has_fsp and column.decimal < 0 else max(column.decimal, 0)
    for edge in spec.edges:
        yield edge.encode()
        if digits:
            yield f"{edge}.{'10'.ljust(digits, '0')[:digits]}".encode()
