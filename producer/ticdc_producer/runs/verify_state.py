"""Compare the expected rows of a golden folder with the tables that a consumer filled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from ticdc_producer.config.kafka_properties import with_environment
from ticdc_producer.engine.local import LocalEngine
from ticdc_producer.engine.spark import SparkEngine
from ticdc_producer.errors import ChangefeedError, StateError, StateSourceError
from ticdc_producer.installation import install_command
from ticdc_producer.local_path import local_path
from ticdc_producer.model.values.temporal_text import zone_of
from ticdc_producer.protocols import registry
from ticdc_producer.runs.run_options import OnStatus, ignore_status
from ticdc_producer.spark.session import spark_session
from ticdc_producer.spark.storage import materialized
from ticdc_producer.targets.golden import read as golden
from ticdc_producer.verifier.consumer_state.comparable_columns import expected_rows
from ticdc_producer.verifier.consumer_state.compare import RowPair, TableCounts, compare_rows
from ticdc_producer.verifier.consumer_state.dataframes import PREFIX, DataFrameTables, SparkTables
from ticdc_producer.verifier.consumer_state.equal_tables import has_expected_sums
from ticdc_producer.verifier.consumer_state.files import Files
from ticdc_producer.verifier.consumer_state.outcome import RowDifference, StateOutcome, TableOutcome
from ticdc_producer.verifier.consumer_state.plan import (
    ExpectedTable,
    StateSource,
    TablePlan,
    expected_tables,
    plan_table,
    select_tables,
    state_folder,
)
from ticdc_producer.verifier.consumer_state.table_formats import is_table_format, table_source

_ROWS_OF_ONE_PROCESS = 20_000_000
"""The start of Spark costs as much as the sums of this number of rows."""


def verify_state(
    expected: str | Path,
    actual: str | Path | Mapping[str, DataFrame],
    *,
    at_ts: int | None = None,
    tables: Sequence[str] = (),
    table_map: Mapping[str, str] | None = None,
    ignore_columns: Sequence[str] = (),
    protocol: str | None = None,
    examples: int = 10,
    on_status: OnStatus = ignore_status,
) -> StateOutcome:
    """Compare the tables that a consumer filled with the rows that a golden folder expects.

    Values are compared by their MySQL type. Values that the protocol does not distinguish are equal.

    :param expected: a golden folder.
    :param actual: a database URL, in which ``${NAME}`` is an environment variable; a folder or file;
        ``spark:FORMAT:PATH``; ``delta:PATH``, and the like for ``iceberg``, ``hudi``, ``paimon`` and
        ``parquet``; or DataFrames of Spark by ``SCHEMA.TABLE``, each with the columns of its table by name.
    :param at_ts: time stamp (TSO) of one of the folder's states; None: the state at the end.
    :param tables: ``SCHEMA.TABLE`` of the tables to compare, with ``*`` for any characters; empty: all.
    :param table_map: from ``SCHEMA.TABLE`` to the consumer's name of the table.
    :param ignore_columns: ``COLUMN`` or ``SCHEMA.TABLE.COLUMN``, not compared.
    :param protocol: overrides the protocol of the folder.
    :param examples: number of differing rows per kind and table in the outcome.
    :param on_status: called with a line of text for each step of the work.
    :raises ProducerError: for an invalid folder, database or name; differences are part of the outcome.
    """
    folder = local_path(expected)
    manifest = golden.manifest(folder, under=state_folder(at_ts))
    changefeed = golden.changefeed(folder, manifest)
    selected = select_tables(expected_tables(folder, manifest, at_ts), tables)
    table_map = _checked(table_map or {}, selected)
    fidelity = registry.fidelity(protocol or changefeed.protocol, changefeed.codec_options(protocol or ""))
    start = spark_session
    on_status("searching for the tables")
    source = _source(actual, start, len(selected))
    plan = partial(
        plan_table,
        ignored=frozenset(name.lower() for name in ignore_columns),
        zone=zone_of(changefeed.time_zone),
        fidelity=fidelity,
    )
    plans = _plans(source, selected, table_map, plan)
    on_status("comparing the sums of the rows")
    tallies = _equal_tables(source, plans, start)
    different = [plan for plan in plans if plan.number not in tallies]
    if different:
        on_status("comparing rows")
        tallies |= _compared(start(), source, different, examples)
    plans_by_name = {plan.table.qualified_name: plan for plan in plans}
    outcomes = [_outcome(table, plans_by_name.get(table.qualified_name), tallies) for table in selected]
    return StateOutcome(
        source=source.label,
        at=at_ts,
        protocol=protocol or changefeed.protocol,
        tables=tuple(outcomes),
        ignored=tuple(ignore_columns),
    )


def _plans(
    source: StateSource,
    tables: Sequence[ExpectedTable],
    table_map: Mapping[str, str],
    plan: Callable[..., TablePlan],
) -> list[TablePlan]:
    """Return the plans of the requested tables that exist, with their columns."""
    same_name = Counter(table.name for table in tables)
    pairs = [
        (table, source.find(table, table_map.get(table.qualified_name), same_name[table.name] == 1))
        for table in tables
    ]
    return [
        plan(number, table, actual.name, actual.columns)
        for number, (table, actual) in enumerate(pairs)
        if actual is not None
    ]


def _checked(table_map: Mapping[str, str], tables: Sequence[ExpectedTable]) -> Mapping[str, str]:
    for name in table_map:
        select_tables(tables, [name], argument="table_map")
    return table_map


def _database(url: str) -> StateSource:
    try:
        from ticdc_producer.verifier.consumer_state.database import DatabaseSource
    except ImportError:
        hint = install_command("state")
        raise StateError("databases need SQLAlchemy", source=url.partition(":")[0], hint=hint) from None
    return DatabaseSource(url)


def _source(
    actual: str | Path | Mapping[str, DataFrame], start: Callable[[], SparkSession], tables: int
) -> StateSource:
    """Return the consumer's tables.

    Spark is started only if needed, so that a wrong URL is rejected at once.
    """
    if isinstance(actual, Mapping):
        for name, rows in actual.items():
            if not isinstance(rows, DataFrame):
                what = f"{type(rows).__name__} is not a DataFrame of Spark"
                raise StateError(what, source=name, hint="spark.createDataFrame makes one of it")
        return DataFrameTables(actual)
    if str(actual).startswith(PREFIX):
        return SparkTables(str(actual), start())
    if isinstance(actual, str) and is_table_format(actual):
        return table_source(actual, start, tables=tables)
    if isinstance(actual, str) and "://" in actual:
        try:
            return _database(with_environment(actual, "`actual`", partial(quote, safe="")))
        except ChangefeedError as error:
            raise error.about("actual") from None
    if not str(actual):
        what, hint = "it is empty", "a database URL, a folder or a file"
        raise StateError(what, source="`actual`", hint=hint).about("actual")
    return Files(local_path(actual), start, tables=tables)


def _equal_tables(
    source: StateSource, plans: Sequence[TablePlan], start: Callable[[], SparkSession]
) -> dict[int, TableCounts]:
    """Return the counts of the tables that have the expected sums, by the number of the table."""
    counts = {}
    for plan in plans:
        rows = plan.table.sums.rows if plan.table.sums is not None else 0
        engine = LocalEngine() if rows <= _ROWS_OF_ONE_PROCESS else SparkEngine(start())
        if has_expected_sums(source, plan, engine):
            counts[plan.number] = TableCounts(expected=rows, actual=rows)
    return counts


def _compared(
    spark: SparkSession, source: StateSource, plans: Sequence[TablePlan], examples: int
) -> dict[int, TableCounts]:
    expected = reduce(DataFrame.unionAll, (expected_rows(spark, plan) for plan in plans))
    actual = reduce(DataFrame.unionAll, (source.rows(spark, plan) for plan in plans))
    try:
        with materialized(actual) as actual:  # a database may change between two reads
            return compare_rows(expected, actual, [plan.number for plan in plans], examples)
    except PySparkException as error:
        raise StateSourceError(
            f"its rows cannot be read: {_last_message(error)}", source=source.label
        ) from None


def _last_message(error: PySparkException) -> str:
    """Return the message at the end of the Python traceback that Spark passes on."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    own_errors = [line for line in lines if line.startswith("ticdc_producer.errors.")]
    return own_errors[-1].partition(": ")[2] if own_errors else (lines[-1] if lines else "")


def _outcome(
    table: ExpectedTable, plan: TablePlan | None, tallies: Mapping[int, TableCounts]
) -> TableOutcome:
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


def _difference(plan: TablePlan, pair: RowPair) -> RowDifference:
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
    return dict(zip((column.name for column in plan.others), map(_bytes, values), strict=True))


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)
