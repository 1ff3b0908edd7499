"""Counts all features of a stream in one job, and derives the traps that it exercises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.spark.materialize import materialized
from ticdc_producer.verifier.coverage.cells import cell_features
from ticdc_producer.verifier.coverage.classified import classify
from ticdc_producer.verifier.coverage.columns import event_ref
from ticdc_producer.verifier.coverage.definitions import definition_features
from ticdc_producer.verifier.coverage.delivery import delivery_features, with_repetitions
from ticdc_producer.verifier.coverage.features_found import first_event
from ticdc_producer.verifier.coverage.keys import key_features
from ticdc_producer.verifier.coverage.rules import RULES, Found, Need
from ticdc_producer.verifier.options import VerifyOptions


@dataclass(frozen=True, slots=True)
class Visibility:
    """The properties of a changefeed's events that a reader can observe.

    :param options: options of the verifier.
    :param types: events have MySQL types.
    :param flags: events have column flags.
    :param decimals: DECIMAL values have all their digits.
    """

    options: VerifyOptions
    types: bool = True
    flags: bool = True
    decimals: bool = True

    def lacks(self, need: Need) -> bool:
        """Whether readers cannot observe this property."""
        visible = {
            "resolved": self.options.fidelity.resolved,
            "types": self.types,
            "flags": self.flags,
            "table ids": self.options.fidelity.has_table_ids,
            "commit-ts": self.options.fidelity.commit_ts == "exact",
            "old values": self.options.fidelity.has_old_values,
            "decimals": self.decimals,
        }
        return not visible[need]


def exercised(decoded: DataFrame, visibility: Visibility) -> dict[str, Found | None]:
    """All traps that are observable in the stream, by id; None for a trap that it does not exercise.

    :param decoded: decoded events (``DECODED``); read several times.
    """
    seen = _features_found(decoded, visibility.options)
    return {
        trap: rule.exercised(seen)
        for trap, rule in RULES.items()
        if not any(visibility.lacks(need) for need in rule.needs)
    }


def _features_found(decoded: DataFrame, options: VerifyOptions) -> Mapping[tuple[str, str], Found]:
    """The features found, by (feature, scope); at most one per feature and column of the tables."""
    with materialized(with_repetitions(classify(decoded, options))) as events:
        found = [
            cell_features(decoded),
            definition_features(decoded),
            key_features(decoded),
            delivery_features(events, options.max_batch_size),
        ]
        counts = (
            reduce(DataFrame.union, found)
            .groupBy("feature", "scope")
            .agg(sf.count("*").alias("count"), first_event())
            .select("feature", "scope", "count", "first_event.*")
        )
        rows = counts.select("feature", "scope", "count", event_ref().alias("first")).collect()
    return {(row["feature"], row["scope"]): Found(row["count"], tuple(row["first"])) for row in rows}
