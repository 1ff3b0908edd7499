"""The reference consumer: computes the rows of a topic's tables at its end.

Per row key the event with the highest commit-ts decides; at one commit-ts a delete comes before an insert.
DROP and TRUNCATE remove the rows committed up to them. It shares no code with the computation of the
scenario's expected state, so that each checks the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.spark.materialize import materialized
from ticdc_producer.verifier.identity import (
    entries,
    fingerprint,
    handle_entries,
    marked,
    readable_entries,
    row_key,
)
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import OFFSET_INDEX

MAX_EXAMPLES = 5
_EXACT = VerifyOptions()
_DROP_SCHEMA, _DROP_TABLE, _TRUNCATE_TABLE = 2, 4, 11
STATE = "schema string, table string, row map<string,binary>"


@dataclass(frozen=True, slots=True, kw_only=True)
class StateComparison:
    """Result of the comparison of expected rows with those of the reference consumer.

    :param tables: number of tables compared.
    :param not_compared: tables whose final rows cannot be derived from the stream: a DDL changed them, or
        the protocol does not mark their key.
    :param diff: examples: ``-`` missing rows, ``+`` unexpected rows.
    """

    tables: int
    rows: int
    missing: int
    unexpected: int
    not_compared: tuple[str, ...] = ()
    diff: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not (self.missing or self.unexpected)

    def to_json(self) -> dict[str, Any]:
        """The fields as keys, and ``ok``."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return {"ok": self.ok, **fields, "not_compared": list(self.not_compared), "diff": list(self.diff)}


def final_state(events: DataFrame, options: VerifyOptions = _EXACT) -> DataFrame:
    """Rows at the end of the stream (shape ``STATE``), of tables with a handle key.

    :param events: decoded events; duplicates do not change the result.
    """
    rows = events.where("kind = 'row'").withColumn("table_id", sf.coalesce("table_id", sf.lit(0)))
    keyed = rows.withColumn("row_key", row_key(handle_entries())).where("row_key is not null")
    # If transactions of one millisecond cannot be distinguished, the position in the partition decides.
    inside = [(sf.col("op") != "delete").cast("int")] if options.commit_ts == "exact" else OFFSET_INDEX
    # If rows have no commit-ts, only the position decides.
    order = sf.struct("commit_ts", *inside) if options.rows_have_commit_ts else sf.struct(*OFFSET_INDEX)
    last = keyed.groupBy("schema", "table", "row_key").agg(
        sf.max_by("after", order).alias("row"), sf.max("commit_ts").alias("commit_ts")
    )
    alive = last.where("row is not null")
    return _after_drops(alive, events.where("kind = 'ddl'")).select("schema", "table", "row")


def _after_drops(rows: DataFrame, ddls: DataFrame) -> DataFrame:
    tables = ddls.where(sf.col("ddl_type").isin(_DROP_TABLE, _TRUNCATE_TABLE))
    by_table = tables.groupBy("schema", "table").agg(sf.max("commit_ts").alias("cleared"))
    schemas = ddls.where(sf.col("ddl_type") == _DROP_SCHEMA)
    by_schema = schemas.groupBy("schema").agg(sf.max("commit_ts").alias("dropped"))
    joined = rows.join(by_table, ["schema", "table"], "left").join(by_schema, "schema", "left")
    gone = sf.greatest("cleared", "dropped")
    return joined.where(gone.isNull() | (sf.col("commit_ts") > gone))


def compare_state(
    expected: DataFrame, actual: DataFrame, not_compared: tuple[str, ...] = ()
) -> StateComparison:
    """Compare two table states row by row.

    :param expected: rows of shape ``STATE``; only its tables are compared.
    :param actual: rows of shape ``STATE``.
    :param not_compared: tables missing in ``expected``, for the report.
    """
    tables = expected.select("schema", "table").distinct()
    wanted = _counted(expected.where("row is not null"), "wanted")
    found = _counted(actual.join(sf.broadcast(tables), ["schema", "table"], "left_semi"), "found")
    both = wanted.join(found, ["schema", "table", "identity", "text"], "full_outer").fillna(0)
    lacking = sf.greatest(sf.col("wanted") - sf.col("found"), sf.lit(0))
    surplus = sf.greatest(sf.col("found") - sf.col("wanted"), sf.lit(0))
    sums = both.agg(
        *(sf.coalesce(sf.sum(column), sf.lit(0)).alias(name)
          for name, column in (("rows", sf.col("wanted")), ("missing", lacking), ("unexpected", surplus)))
    ).collect()[0]  # fmt: skip
    diff: tuple[str, ...] = ()
    if sums["missing"] or sums["unexpected"]:
        with materialized(both.where("wanted != found")) as different:
            diff = (
                *_examples("-", different.where(lacking > 0)),
                *_examples("+", different.where(surplus > 0)),
            )
    return StateComparison(tables=tables.count(), **sums.asDict(), not_compared=not_compared, diff=diff)


def _counted(state: DataFrame, count: str) -> DataFrame:
    pairs = entries(sf.col("row"))
    each = state.select(
        "schema", "table", fingerprint(marked(pairs)).alias("identity"), readable_entries(pairs).alias("text")
    )
    return each.groupBy("schema", "table", "identity", "text").agg(sf.count("*").alias(count))


def _examples(sign: str, rows: DataFrame) -> list[str]:
    selected = rows.orderBy("schema", "table", "text").limit(MAX_EXAMPLES).collect()
    return [f"{sign} {row['schema']}.{row['table']} {row['text']}" for row in selected]
