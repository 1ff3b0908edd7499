"""The conditions under which a stream exercises a trap, as SQL on named views of the decoded events.

A trap has one ``CoverageRule`` (``faults.trap``); ``verifier.coverage`` evaluates the rules of all traps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Need: TypeAlias = Literal[
    "resolved", "types", "flags", "table ids", "commit-ts", "old values", "decimals", "original names"
]  # fmt: skip
View: TypeAlias = Literal[
    "cell", "event", "island", "partition", "message", "row", "known-row", "row-commit", "row-key",
    "moved-row", "swapped-keys", "ddl", "ddls-of-commit", "ddls-of-topic", "table-columns", "table-ids",
]  # fmt: skip

VIEWS: Mapping[View, tuple[str, dict[str, str]]] = MappingProxyType(
    {
        "cell": (
            "a column of a row event",
            {
                "type": "without parameters", "flag": "", "value": "bytes", "text": "", "number": "",
                "different_bytes": "their number",
            },
        ),
        "event": (
            "an event",
            {
                "kind": "", "op": "", "commit_ts": "", "index": "in its message", "key_change": "",
                "first_delivery": "", "first_row": "a row delivered for the first time",
                "row_again": "a repeated row", "repeated": "its message repeats the previous one",
                "rows_again": "repeated rows between two new ones",
                "stale": "repeated resolved events between two new rows",
                "resolved_max": "newest before it", "row_max": "newest before it",
                "table_max": "newest of its table before it", "replaying": "after a restart",
                "replayed_max": "newest repeated row of the topic",
                "by_value": "its table is dispatched by values",
            },
        ),
        "island": (
            "the repeated rows of a partition between two new ones",
            {"stale": "repeated resolved events", "tables": "of these rows", "of_tables": "of the topic"},
        ),
        "partition": ("a partition", {"rows": "their number", "resolved": "number of resolved events"}),
        "message": ("a message with rows", {"rows": "their number", "max_batch_size": ""}),
        "row": (
            "a row event",
            {
                "op": "", "handle_key_only": "", "key_size": "number of handle key columns",
                "claim_check": "the changefeed stores too large rows",
            },
        ),
        "known-row": (
            "a row event with a handle key",
            {
                "op": "",
                "filled": "its old image has a value that the row's previous event lacked",
                "deleted": "the row's previous event is an earlier delete",
            },
        ),
        "row-commit": ("the events of a row and commit-ts", {"deleted": "", "inserted": ""}),
        "row-key": ("the events of a handle key", {"partitions": "number of partitions that have them"}),
        "moved-row": (
            "a row that a commit moved to another handle key",
            {"left": "the row of the old key was deleted"},
        ),
        "swapped-keys": ("two handle keys between which a commit moved rows", {"ways": "1 or 2"}),
        "ddl": ("a DDL", {"query": "", "schema": "", "table": "", "commit_ts": ""}),
        "ddls-of-commit": (
            "the DDLs of a commit-ts in a partition",
            {"parts": "their number", "old": "names of RENAME", "new": "names of RENAME"},
        ),
        "ddls-of-topic": ("the DDLs of a topic", {"kinds": "number of different first two words"}),
        "table-columns": ("a table", {"changed": "its rows have different columns"}),
        "table-ids": ("a table whose rows carry physical table ids", {"parts": "number of ids"}),
    }
)  # fmt: skip
"""The meaning of a row of each view, and the columns that a condition may use."""


@dataclass(frozen=True, slots=True, order=True)
class Feature:
    """A property that events may have.

    :param view: the view whose rows are tested.
    :param condition: SQL over the columns of the view (``VIEWS``).
    """

    view: View
    condition: str


@dataclass(frozen=True, slots=True)
class CoverageRule:
    """The features of a trap; a stream exercises the trap if it has all of them.

    :param in_one_scope: all features must be found in the same column.
    :param needs: properties of the events that must be observable with the protocol and its options.
    """

    features: tuple[Feature, ...]
    in_one_scope: bool = False
    needs: tuple[Need, ...] = ()


def seen_as(view: View, *conditions: str, needs: tuple[Need, ...] = ()) -> CoverageRule:
    """Build a rule with one or several conditions on one view."""
    return CoverageRule(tuple(Feature(view, condition) for condition in conditions), needs=needs)
