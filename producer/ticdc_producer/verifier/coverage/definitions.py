"""Views of DDL events, of table definitions in row events, and of the values of columns.

Types are compared without their parameters, because protocols differ in them; values are the canonical text
that all decoders return. Updates count with their new image, deletes with their old image.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from functools import cached_property, lru_cache, partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ticdc_producer.engine.dataset import Batches, Dataset, Order, Part
from ticdc_producer.model.column_functions import Numbers, whole_groups
from ticdc_producer.model.fidelity import replace_invalid
from ticdc_producer.model.shapes import DecodedBatch
from ticdc_producer.model.trap_coverage import Feature, View
from ticdc_producer.verifier.coverage.occurrences import Constants, FeatureCounts, Position, ViewEvents
from ticdc_producer.verifier.event_layouts import EventLayout, Images

DDLS = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("position", pa.int64()),
        ("commit_ts", pa.int64()),
        ("schema", pa.string()),
        ("table", pa.string()),
        ("query", pa.string()),
    ]
)
"""DDL events. ``position`` is that of ``events.positions``."""
_COMMIT, _NAMES = ("topic", "partition", "commit_ts"), pa.list_(pa.string())
_STATEMENTS = pa.schema([*DDLS, ("parts", pa.int64()), ("old", _NAMES), ("new", _NAMES)])
_RENAMED = re.compile(r"(?:rename\s+table|,)\s+(\S+?)\s+to\s+([^\s,;]+)", re.ASCII)
_TWO_WORDS = re.compile(r"\s*(\w+\s+\w+)", re.ASCII)
_Rows: TypeAlias = list[dict[str, Any]]


def ddl_rows(decoded: DecodedBatch, position: Numbers) -> DecodedBatch:
    """Return the DDL events of a batch as ``DDLS``.

    :param decoded: shape ``DECODED``.
    :param position: of each event.
    """
    columns = [pa.array(position) if name == "position" else decoded.column(name) for name in DDLS.names]
    ddls: DecodedBatch = pa.record_batch(columns, schema=DDLS).filter(pc.equal(decoded.column("kind"), "ddl"))
    return ddls


def statement_counts(ddls: Dataset, features: tuple[Feature, ...]) -> list[FeatureCounts]:
    """Return the counts of the view ``ddls-of-commit``.

    :param ddls: ``DDLS``.
    """
    in_order = ddls.shuffle(_COMMIT[:2], Order((*_COMMIT[:2], "position")))
    return in_order.results(partial(_statement_counts, features))


def _statement_counts(features: tuple[Feature, ...], _part: Part, batches: Batches) -> FeatureCounts:
    counts = FeatureCounts(features)
    for batch in whole_groups(batches, _COMMIT[:2]):
        by_commit: defaultdict[tuple[Any, ...], _Rows] = defaultdict(list)
        for ddl in batch.to_pylist():
            by_commit[tuple(ddl[name] for name in _COMMIT)].append(ddl)
        statements = pa.RecordBatch.from_pylist([*map(_statement, by_commit.values())], _STATEMENTS)
        add_ddls(counts, "ddls-of-commit", statements)
    return counts


def add_ddls(counts: FeatureCounts, view: View, ddls: pa.RecordBatch) -> None:
    """Count the features of DDLs, or of statements.

    :param ddls: ``DDLS``, and possibly more columns.
    """
    counts.add(view, _events(ddls), ddls)


def _events(ddls: pa.RecordBatch) -> ViewEvents:
    partition, position = (ddls.column(name).to_numpy() for name in ("partition", "position"))
    return ViewEvents.of(ddls.column("topic"), partition, position)


def _statement(ddls: _Rows) -> dict[str, Any]:
    """Return the first of the DDLs of a statement, the number of its parts, and the names in its RENAMEs."""
    parts = {(ddl["query"], ddl["schema"], ddl["table"]) for ddl in ddls}
    queries = [(ddl["query"] or "").replace("`", "").lower() for ddl in ddls]
    names = [pair for query in queries for pair in _RENAMED.findall(query)]
    complete = [part for part in parts if None not in part]
    renamed = {"old": [old for old, _ in names], "new": [new for _, new in names]}
    return {**ddls[0], "parts": len(complete), **renamed}


@dataclass
class Variants:
    """The variants among the events of a table or topic: columns, physical ids, or kinds of DDL.

    :ivar variants: the variants by topic, schema and table.
    :ivar first: the position of the first event.
    """

    variants: dict[tuple[str, str, str], set[Hashable]] = field(default_factory=dict)
    first: dict[tuple[str, str, str], Position] = field(default_factory=dict)

    def add(
        self, variants: Iterable[Hashable], events: ViewEvents, schema: str = "", table: str = ""
    ) -> None:
        """Add events of some variants; without schema and table they are those of a topic.

        >>> variants, topics = Variants(), pa.array(["t", "u", "t"])
        >>> events = ViewEvents.of(topics, np.zeros(3, np.int64), np.array([9, 5, 7]))
        >>> variants.add(["a, b"], events, "s", "x")
        >>> variants.variants["t", "s", "x"], variants.first["t", "s", "x"]
        ({'a, b'}, ('t', 0, 7))
        """
        for topic in np.unique(events.topic).tolist():
            first = events.take(np.flatnonzero(events.topic == topic)).first()
            self._add((first[0], schema, table), variants, first)

    def add_kinds(self, ddls: pa.RecordBatch) -> None:
        """Add the kinds of DDLs: the first two words, which every protocol has."""
        events = _events(ddls)
        for number, query in enumerate(ddls.column("query").to_pylist()):
            words = _TWO_WORDS.match(query or "")
            kinds = [] if query is None else [words[1].upper() if words else ""]
            self.add(kinds, events.take(np.array([number])))

    def merge(self, other: Variants) -> None:
        """Add the events of another part of the stream."""
        for name, variants in other.variants.items():
            self._add(name, variants, other.first[name])

    def tables(self) -> dict[str, int]:
        """Return the number of tables of each topic."""
        return Counter(topic for topic, _, _ in self.variants)

    def add_to(self, counts: FeatureCounts, view: View) -> None:
        """Count the features of a view of tables or topics."""
        if not self.variants:
            return
        topics, partitions, positions = zip(*self.first.values(), strict=True)
        number = pa.array([len(variants) for variants in self.variants.values()])
        columns = {"parts": number, "kinds": number, "changed": pc.greater(number, 1)}
        events = ViewEvents.of(pa.array(topics), np.array(partitions), np.array(positions))
        counts.add(view, events, columns)

    def _add(self, name: tuple[str, str, str], variants: Iterable[Hashable], first: Position) -> None:
        self.variants.setdefault(name, set()).update(variants)
        self.first[name] = min(first, self.first.get(name, first))


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
        """The values as whole numbers; NULL if they are not numbers, or have more than 30 digits."""
        plain = pc.match_substring_regex(self.text, r"^-?\d{1,30}$")
        if pc.all(plain).as_py():  # Arrow crashes on texts with large negative exponents
            return self.text.cast(_DECIMAL)
        return pa.array([_whole_number(text) for text in self.text.to_pylist()], _DECIMAL)

    @cached_property
    def different_bytes(self) -> pa.Array:
        """The number of different bytes of each value."""
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

    def add(self, layout: EventLayout) -> None:
        """Add the cells of a layout."""
        starts = (self._old if layout.deletes else self._new).lists.starts[layout.rows]
        for column in layout.columns:
            if column.name in layout.key_image:
                scope = f"{layout.schema}.{layout.table}.{column.name}"
                key = scope, _plain_type(column.type), column.flag, layout.deletes
                self._cells[key].append((layout.rows, starts + layout.key_image[column.name]))

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
