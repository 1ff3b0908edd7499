"""The combinations of options of the format ``ticdc`` that are rejected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from pyspark_ticdc.options import BOOTSTRAP, GivenOptions
from ticdc_producer.runs.options.rule import OptionRule, check_rules

SOURCES = (BOOTSTRAP, "sink-uri", "path", "scenario")
"""The options that name a source."""
_TARGETS = ("sink-uri", "path", BOOTSTRAP)


def _exactly_one(what: str, names: tuple[str, ...]) -> Iterator[OptionRule]:
    """Yield the rules that one of some options is given."""
    yield OptionRule(what, absent=names, argument=BOOTSTRAP)
    for pair in combinations(names, 2):
        yield OptionRule(what, pair, argument=pair[1])


def _without_effect(option: str, rows: tuple[str, ...], hint: str, value: str = "") -> Iterator[OptionRule]:
    """Yield the rules that an option, or a value of it, is not given with some ``rows``."""
    for kind in rows:
        what = f"the option {option!r} has no effect with rows={kind}"
        yield OptionRule(what, (value or option, f"rows={kind}"), hint=hint, argument=option)


# fmt: off
SOURCE = (
    *_exactly_one(f"give exactly one source: one of the options {', '.join(map(repr, SOURCES))}", SOURCES),
    OptionRule(f"option {BOOTSTRAP!r} requires the option 'subscribe'", (BOOTSTRAP,), ("subscribe",),
        "it names the topics", argument="subscribe"),
)
ROWS = (
    *_without_effect("table", ("messages", "events", "ranges"), "set rows=changes"),
    *(OptionRule("the option 'rows' requires the option 'table'", (f"rows={kind}",), ("table",),
        "SCHEMA.TABLE", argument="table") for kind in ("changes", "state")),
    *_without_effect("state-at", ("messages", "events", "changes", "ranges"), "set rows=state"),
    OptionRule("rows=state cannot be combined with on-error=rows", ("rows=state", "on-error=rows"),
        hint="a row needs all of its changes", argument="on-error"),
    *_without_effect("duplicates", ("messages", "ranges"), "messages are not decoded", "duplicates=drop"),
)
ROWS_OF_STREAM = (
    OptionRule("a stream has no rows=state", ("rows=state",),
        hint="read rows=changes, and merge them into a table", argument="rows"),
)
ROWS_OF_BATCH = (
    OptionRule("only a stream has rows=ranges", ("rows=ranges",),
        hint="read rows=messages, or use readStream", argument="rows"),
)
_DEFINITION = "give the table's definition: the option 'ddl' with CREATE TABLE, or 'ddl-file'"
TARGET = (
    *_exactly_one(f"give exactly one target: the options {BOOTSTRAP!r} and 'topic', or 'sink-uri', or 'path'",
        _TARGETS),
    OptionRule(f"option {BOOTSTRAP!r} requires the option 'topic'", (BOOTSTRAP,), ("topic",),
        argument="topic"),
    OptionRule(_DEFINITION, (), ("ddl", "ddl-file"), argument="ddl"),
    OptionRule(_DEFINITION, ("ddl", "ddl-file"), argument="ddl"),
    OptionRule("a stream requires the option 'checkpointLocation': it is what makes a batch known again",
        ("writeStream",), ("checkpointLocation",), argument="checkpointLocation"),
)
# fmt: on


def check_combinations(rules: Iterable[OptionRule], options: GivenOptions, use: str = "") -> None:
    """Reject options that cannot be combined, would have no effect, or lack another one.

    :param use: the kind of query, if the rules name it.
    :raises ArgumentError: for the first rule that they break.
    """
    values = {name: value for name, value in options.values.items() if value is not None}
    check_rules(rules, {use, *values, *(f"{name}={value}" for name, value in values.items())})
