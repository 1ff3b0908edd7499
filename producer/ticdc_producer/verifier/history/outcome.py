"""The result of comparing two histories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ticdc_producer.engine.choose import EngineChoice
from ticdc_producer.model.html_table import html_table


@dataclass(frozen=True, slots=True, kw_only=True)
class SideSummary:
    """One of the two streams.

    :param name: as the user named it.
    :param rows: number of row events, duplicates included.
    :param ddls: number of DDLs, each once.
    :param resolved_ts: the highest resolved-ts; None: there is none, or the protocol has none.
    :param undecoded: number of messages that do not decode; ``first_undecoded`` is where the first one is.
    """

    name: str
    protocol: str
    rows: int
    ddls: int
    resolved_ts: int | None
    undecoded: int = 0
    first_undecoded: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryDifference:
    """The first difference of one row key, or a difference of DDLs or columns.

    :param kind: ``only in A``, ``only in B``, ``commit-ts``, ``operation``, ``values``, ``order``, ``query``,
        ``type``, or ``columns``.
    :param key: the row key as text; empty if it is unknown, and for DDLs.
    :param before: how many changes of the key, which are equal, come before it.
    :param column: the first column with different values; empty for differences of other kinds.
    :param a, b: what is different, as text; None: there is nothing.
    :param position_a, position_b: ``topic/partition@offset[index]`` of the events; empty without one.
    :param event_a, event_b: the events as ``decode`` prints them.
    """

    table: str
    kind: str
    key: str = ""
    before: int = 0
    column: str = ""
    a: str | None = None
    b: str | None = None
    position_a: str = ""
    position_b: str = ""
    event_a: str = ""
    event_b: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the fields as a JSON object."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDiff:
    """The histories of one table.

    :param equal, different: keys that both have; ``only_a``, ``only_b``: keys that one of them has.
    :param keyed: whether rows are compared by their keys; otherwise equal changes count as one key.
    :param changes_a, changes_b: row changes, each once.
    :param ddls: DDLs that both have and that are equal.
    :param other_ddls: DDLs that differ, or that one side lacks.
    :param other_columns: descriptions of columns that only one side has.
    :param examples: the first differences.
    """

    name: str
    equal: int = 0
    different: int = 0
    only_a: int = 0
    only_b: int = 0
    keyed: bool = True
    changes_a: int = 0
    changes_b: int = 0
    ddls: int = 0
    other_ddls: int = 0
    other_columns: int = 0
    examples: tuple[HistoryDifference, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is no difference."""
        return not (self.different or self.only_a or self.only_b or self.other_ddls or self.other_columns)

    def to_json(self) -> dict[str, object]:
        """Return the fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {"ok": self.ok, **fields, "examples": [example.to_json() for example in self.examples]}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryDiff:
    """The comparison of two histories.

    :param tables: those of either side, by name.
    :param not_compared: what was not compared, with the reasons.
    :param engine: which engine compared them, and why.
    """

    a: SideSummary
    b: SideSummary
    tables: tuple[TableDiff, ...]
    not_compared: Mapping[str, str] = field(default_factory=dict)
    engine: EngineChoice | None = None

    @property
    def equal(self) -> bool:
        """Whether all that is compared of the histories is equal, and all messages decode."""
        return all(table.ok for table in self.tables) and not (self.a.undecoded or self.b.undecoded)

    def to_json(self) -> dict[str, object]:
        """Return the result with stable keys."""
        return {
            "equal": self.equal,
            "a": self.a.to_json(),
            "b": self.b.to_json(),
            "tables": [table.to_json() for table in self.tables],
            "not_compared": dict(self.not_compared),
            "engine": None if self.engine is None else self.engine.to_json(),
        }

    def _repr_html_(self) -> str:
        """Return the counts of each table as a table of a notebook."""
        head = ("table", "keys equal", "different", "only in A", "only in B", "DDLs equal", "other DDLs")
        rows = [
            (
                table.name,
                f"{table.equal:,}",
                f"{table.different:,}",
                f"{table.only_a:,}",
                f"{table.only_b:,}",
                f"{table.ddls:,}",
                f"{table.other_ddls:,}",
            )
            for table in self.tables
        ]
        return html_table(f"Histories: {'equal' if self.equal else 'different'}", head, rows)
