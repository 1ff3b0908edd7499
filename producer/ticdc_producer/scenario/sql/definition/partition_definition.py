"""The draft of a PARTITION BY, whose bounds are SQL text; ``partition_bounds`` evaluates it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.sql.syntax.partition import Intervals, Partition, PartitionBy, PartitionKind
from ticdc_producer.scenario.sql.text.cursor import SourceText

BY_VALUES: dict[str, str] = {"RANGE": "LESS THAN", "LIST": "IN"}
"""The VALUES clause of each kind of partitioning; HASH and KEY have none."""
MAXVALUE_WORD, DEFAULT_WORD = "MAXVALUE", "DEFAULT"
MOST_PARTITIONS = 8192
_OPTIONS = ("PLACEMENT POLICY", "COMMENT", "ENGINE", "MAX_ROWS", "MIN_ROWS", "TABLESPACE", "NODEGROUP")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDraft:
    """A parsed partition.

    :param values: ``LESS THAN``, ``IN``, or empty.
    :param bounds: SQL texts: the one bound of LESS THAN, or each value of IN.
    """

    name: str
    values: str
    bounds: tuple[tuple[str, ...], ...]
    line: int

    @property
    def values_text(self) -> str:
        """The VALUES clause; empty without one."""
        if not self.values:
            return ""
        if self.bounds == ((DEFAULT_WORD,),):
            return DEFAULT_WORD
        of_list = self.values == BY_VALUES["LIST"]
        values = [
            f"({', '.join(texts)})" if of_list and len(texts) > 1 else ", ".join(texts)
            for texts in self.bounds
        ]
        return f"VALUES {self.values} ({', '.join(values)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitioningDraft:
    """A parsed PARTITION BY.

    :param intervals: generates the partitions, see ``interval_partitions``; None if they are given.
    """

    kind: PartitionKind
    columns: tuple[str, ...]
    expression: str
    count: int
    parts: tuple[PartitionDraft, ...]
    line: int
    intervals: Intervals | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts) or tuple(f"p{n}" for n in range(self.count))


def draft_partitioning(node: PartitionBy) -> PartitioningDraft:
    """Return the draft of a partitioning.

    :raises ScenarioError: for a number of partitions that TiDB does not accept.
    :raises UnsupportedSQL: for kinds of partitioning that this tool does not support.
    """
    method, source = node.method, node.source
    _check_method(node)
    parts = draft_partitions(node.parts, divided=node.inner is not None)
    if method.kind in ("RANGE", "LIST") and not parts and method.intervals is None:
        raise source.error(f"expected the partitions of {method.kind}")
    count = checked_count(node.count, source.line) or len(parts) or 1
    if parts and len(parts) != count:
        raise source.error(f"PARTITIONS {count}, but {len(parts)} partitions")
    return PartitioningDraft(
        kind=method.kind,
        columns=tuple(column[-1] for column in method.columns),
        expression="" if method.expression is None else method.expression.text,
        count=count,
        parts=parts,
        line=source.line,
        intervals=method.intervals,
    )


def _check_method(node: PartitionBy) -> None:
    """Check that this tool supports a kind of partitioning. TiDB ignores LINEAR and subpartitions.

    :raises ScenarioError: for subpartitions of HASH and KEY.
    :raises UnsupportedSQL: if it does not.
    """
    method, source = node.method, node.source
    if method.algorithm >= 0:
        raise source.unsupported("ALGORITHM in PARTITION BY")
    if method.intervals is not None and (node.parts or node.inner is not None):
        raise method.intervals.source.unsupported("INTERVAL in PARTITION BY with partitions")
    if node.inner is not None and method.kind in ("HASH", "KEY"):
        what = "It is only possible to mix RANGE/LIST partitioning with HASH/KEY partitioning"
        raise ScenarioError(f"{what} for subpartitioning", line=source.line)


def checked_count(count: int, line: int) -> int:
    """Check the number of ``PARTITIONS n``, and return it; 0 without it, for which the grammar has -1."""
    if count == 0:
        raise ScenarioError("Number of partitions = 0 is not an allowed value", line=line, value="0")
    if count > MOST_PARTITIONS:
        what = f"Too many partitions (including subpartitions) were defined: at most {MOST_PARTITIONS}"
        raise ScenarioError(what, line=line, value=str(count))
    return max(count, 0)


def draft_partitions(parts: Iterable[Partition], *, divided: bool = False) -> tuple[PartitionDraft, ...]:
    """Return the drafts of ``(PARTITION name VALUES …, …)``.

    :param divided: whether they may have subpartitions.
    :raises UnsupportedSQL: for other subpartitions, and options that this tool does not support.
    """
    return tuple(_draft_partition(part, divided=divided) for part in parts)


def _draft_partition(part: Partition, *, divided: bool) -> PartitionDraft:
    if part.subpartitions and not divided:
        raise part.subpartitions[0].source.unsupported("SUBPARTITION")
    for option in part.options:
        if option.kind not in _OPTIONS:
            raise option.source.unsupported(f"the partition option {option.kind}")
    line = part.source.line
    if part.name.endswith(" "):
        raise ScenarioError("Incorrect partition name", line=line, value=part.name)
    if part.values == "DEFAULT":
        return PartitionDraft(name=part.name, values="IN", bounds=((DEFAULT_WORD,),), line=line)
    bounds = tuple(tuple(map(_text, values)) for values in part.bounds)
    return PartitionDraft(name=part.name, values=part.values, bounds=bounds, line=line)


def _text(value: SourceText) -> str:
    word = value.text.upper()
    return word if word in (DEFAULT_WORD, MAXVALUE_WORD) else value.text
