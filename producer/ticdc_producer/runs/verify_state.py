"""The state job: a golden folder's expected rows against the tables that a consumer filled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.config.environment import with_environment
from ticdc_producer.errors import StateError, StateSourceError
from ticdc_producer.protocols import registry
from ticdc_producer.protocols.zone import zone_of
from ticdc_producer.runs.prepare import codec_options
from ticdc_producer.spark.materialize import kept
from ticdc_producer.spark.session import spark_session
from ticdc_producer.targets.golden.read import changefeed, manifest
from ticdc_producer.verifier.consumer_state.compare import Pair, Tally, compare_rows
from ticdc_producer.verifier.consumer_state.dataframes import PREFIX, Frames, SparkTables
from ticdc_producer.verifier.consumer_state.expected import ExpectedTable, chosen, expected_tables
from ticdc_producer.verifier.consumer_state.files import Files
from ticdc_producer.verifier.consumer_state.outcome import RowDifference, StateOutcome, TableOutcome
from ticdc_producer.verifier.consumer_state.plan import TablePlan, plan_table
from ticdc_producer.verifier.consumer_state.rows import expected_rows
from ticdc_producer.verifier.consumer_state.source import Source

Say = Callable[[str], None]
_LIGHT_BYTES = 16 << 20
"""Of state files; below it a session that starts quickly is worth more than one that runs quickly."""


def verify_state(
    expected: str | Path,
    actual: str | Path | Mapping[str, DataFrame],
    *,
    at: int | None = None,
    tables: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    ignored: Sequence[str] = (),
    protocol: str | None = None,
    examples: int = 10,
    say: Say = lambda _line: None,
) -> StateOutcome:
    """Compare the tables that a consumer filled with the rows that a golden folder expects.

    Values are compared by their MySQL type; those that no reader of the protocol tells apart are equal.

    :param expected: a golden folder.
    :param actual: a database URL, in which ``${NAME}`` is an environment variable; a folder or file;
        ``spark:FORMAT:PATH``; or DataFrames by ``SCHEMA.TABLE``.
    :param at: a time stamp (TSO) that the folder has the state of; None: the end.
    :param tables: ``SCHEMA.TABLE`` of those to compare, ``*`` for any characters; none: all.
    :param names: ``SCHEMA.TABLE`` to the name that the consumer gave the table.
    :param ignored: ``COLUMN`` or ``SCHEMA.TABLE.COLUMN`` not to compare.
    :param protocol: instead of the one that the folder was written in.
    :param examples: differing rows to show of each kind and table.
    :raises ProducerError: for a folder, database or name that is wrong; differences are in the outcome.
    """
    content = manifest(Path(expected))
    feed = changefeed(Path(expected), content)
    wanted = chosen(expected_tables(Path(expected), content, at), tables)
    names = _checked(names or {}, wanted)
    losses = registry.encoder(protocol or feed.protocol, codec_options(feed)).losses
    start = partial(spark_session, light=sum(table.file.stat().st_size for table in wanted) < _LIGHT_BYTES)
    say("looking for the tables")
    source = _source(actual, start, len(wanted))
    matching = partial(
        plan_table,
        ignored=frozenset(name.lower() for name in ignored),
        zone=zone_of(feed.time_zone),
        losses=losses,
    )
    plans = _plans(source, wanted, names, matching)
    say("comparing rows")
    tallies = _compared(start(), source, plans, examples) if plans else {}
    planned = {plan.table.qualified_name: plan for plan in plans}
    outcomes = [_outcome(table, planned.get(table.qualified_name), tallies) for table in wanted]
    return StateOutcome(
        source=source.label,
        at=at,
        protocol=protocol or feed.protocol,
        tables=tuple(outcomes),
        ignored=tuple(ignored),
    )


def _plans(
    source: Source,
    wanted: Sequence[ExpectedTable],
    names: Mapping[str, str],
    matching: Callable[..., TablePlan],
) -> list[TablePlan]:
    """The tables that are there, with their columns."""
    alone = Counter(table.name for table in wanted)
    found = [
        (table, source.find(table, names.get(table.qualified_name), alone=alone[table.name] == 1))
        for table in wanted
    ]
    return [
        matching(number, table, place.name, place.columns)
        for number, (table, place) in enumerate(found)
        if place is not None
    ]


def _checked(names: Mapping[str, str], tables: Sequence[ExpectedTable]) -> Mapping[str, str]:
    for name in names:
        chosen(tables, [name], option="--map")
    return names


def _database(url: str) -> Source:
    try:
        from ticdc_producer.verifier.consumer_state.database import Database
    except ImportError:
        hint = "pip install 'ticdc-producer[state]'"
        raise StateError("databases need SQLAlchemy", source=url.partition(":")[0], hint=hint) from None
    return Database(url)


def _source(
    actual: str | Path | Mapping[str, DataFrame], start: Callable[[], SparkSession], tables: int
) -> Source:
    """Spark is started only for what needs it, so that a wrong URL is refused at once."""
    if isinstance(actual, Mapping):
        return Frames(actual)
    if str(actual).startswith(PREFIX):
        return SparkTables(str(actual), start())
    if isinstance(actual, str) and "://" in actual:
        return _database(with_environment(actual, "--actual", partial(quote, safe="")))
    if not str(actual):
        raise StateError("it is empty", source="--actual", hint="a database URL, a folder or a file")
    return Files(Path(actual), start, tables=tables)


def _compared(
    spark: SparkSession, source: Source, plans: Sequence[TablePlan], shown: int
) -> dict[int, Tally]:
    wanted = reduce(DataFrame.unionAll, (expected_rows(spark, plan) for plan in plans))
    there = reduce(DataFrame.unionAll, (source.rows(spark, plan) for plan in plans))
    try:
        with kept(there) as once:  # a database may change between two readings
            return compare_rows(wanted, once, [plan.number for plan in plans], shown)
    except PySparkException as error:
        raise StateSourceError(
            f"its rows cannot be read: {_last_words(error)}", source=source.label
        ) from None


def _last_words(error: PySparkException) -> str:
    """The sentence at the end of the Python traceback that Spark hands on."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if line.startswith("ticdc_producer.errors.")]
    return told[-1].partition(": ")[2] if told else (lines[-1] if lines else "")


def _outcome(table: ExpectedTable, plan: TablePlan | None, tallies: Mapping[int, Tally]) -> TableOutcome:
    if plan is None:
        return TableOutcome(table=table.qualified_name, actual="")
    tally = tallies[plan.number]
    return TableOutcome(
        table=table.qualified_name,
        actual=plan.actual,
        expected_rows=tally.expected,
        actual_rows=tally.actual,
        missing=tally.missing,
        extra=tally.extra,
        different=tally.different,
        missing_columns=plan.missing,
        extra_columns=plan.extra,
        examples=tuple(_difference(plan, pair) for pair in tally.examples),
    )


def _difference(plan: TablePlan, pair: Pair) -> RowDifference:
    key = dict(zip((column.name for column in plan.key), map(_bytes, pair.key), strict=True))
    sides = [_named(plan, side) for side in (pair.expected, pair.actual)]
    if pair.expected is None or pair.actual is None:
        kind: Any = "extra" if pair.expected is None else "missing"
        return RowDifference(kind=kind, key=key, expected=sides[0], actual=sides[1])
    expected, actual = sides
    differ = [name for name, value in expected.items() if actual[name] != value]
    return RowDifference(
        kind="different",
        key=key,
        expected={name: expected[name] for name in differ},
        actual={name: actual[name] for name in differ},
    )


def _named(plan: TablePlan, values: Sequence[Any] | None) -> dict[str, bytes | None]:
    if values is None:
        return {}
    return dict(zip((column.name for column in plan.rest), map(_bytes, values), strict=True))


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)
