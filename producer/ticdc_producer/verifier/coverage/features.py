"""Counts all features of a stream in one job, and derives the traps that it exercises."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.model.trap_coverage import CoverageRule, Feature, Need, View
from ticdc_producer.spark.background_jobs import materialized
from ticdc_producer.verifier.coverage.classified import classify
from ticdc_producer.verifier.coverage.columns import cells, event_ref, features_found, first_event
from ticdc_producer.verifier.coverage.definitions import definition_views
from ticdc_producer.verifier.coverage.delivery import delivery_views, with_repetitions
from ticdc_producer.verifier.coverage.keys import key_views
from ticdc_producer.verifier.coverage.rules import Found, occurrences
from ticdc_producer.verifier.options import VerifyOptions


@dataclass(frozen=True, slots=True)
class Visibility:
    """The properties of a changefeed's events that a reader can observe.

    :param options: options of the verifier.
    :param types: events have MySQL types.
    :param flags: events have column flags.
    :param decimals: DECIMAL values have all their digits.
    :param claim_check: rows above ``max-message-bytes`` are stored, instead of sent with their handle keys.
    """

    options: VerifyOptions
    types: bool = True
    flags: bool = True
    decimals: bool = True
    claim_check: bool = False

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
            # Dispatch rules name tables as they are.
            "original names": self.options.fidelity.visible_name("-") == "-",
        }
        return not visible[need]


def exercised(
    decoded: DataFrame, visibility: Visibility, rules: Mapping[str, CoverageRule]
) -> dict[str, Found | None]:
    """All traps that are observable in the stream, by id; None for a trap that it does not exercise.

    :param decoded: decoded events (``DECODED``); read several times.
    :param rules: the rule of each trap, by id.
    """
    observable = {
        trap: rule for trap, rule in rules.items() if not any(visibility.lacks(need) for need in rule.needs)
    }
    features = sorted({feature for rule in observable.values() for feature in rule.features})
    found = _features_found(decoded, visibility, features)
    return {trap: occurrences(rule, found) for trap, rule in observable.items()}


def _features_found(
    decoded: DataFrame, visibility: Visibility, features: Sequence[Feature]
) -> Mapping[tuple[Feature, str], Found]:
    """The features found, by (feature, scope); at most one per feature and column of the tables."""
    conditions: defaultdict[View, dict[int, str]] = defaultdict(dict)
    for number, feature in enumerate(features):
        conditions[feature.view][number] = feature.condition
    options = visibility.options
    with materialized(with_repetitions(classify(decoded, options))) as events:
        views: dict[View, DataFrame] = {
            "cell": cells(decoded),
            **definition_views(decoded),
            **key_views(decoded, claim_check=visibility.claim_check),
            **delivery_views(events, options.max_batch_size),
        }
        found = [features_found(views[view], tests) for view, tests in conditions.items()]
        counts = (
            reduce(DataFrame.union, found)
            .groupBy("feature", "scope")
            .agg(sf.count("*").alias("count"), first_event())
            .select("feature", "scope", "count", "first_event.*")
        )
        rows = counts.select("feature", "scope", "count", event_ref().alias("first")).collect()
    return {
        (features[row["feature"]], row["scope"]): Found(row["count"], tuple(row["first"])) for row in rows
    }
