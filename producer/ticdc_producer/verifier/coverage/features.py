"""One job over a stream: every feature with its count and first place, and what that makes of the traps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from ticdc_producer.spark.materialize import kept
from ticdc_producer.verifier.coverage.cells import cell_hits
from ticdc_producer.verifier.coverage.definitions import definition_hits
from ticdc_producer.verifier.coverage.delivery import delivery_hits, with_repetitions
from ticdc_producer.verifier.coverage.hits import first_place
from ticdc_producer.verifier.coverage.keys import key_hits
from ticdc_producer.verifier.coverage.rules import RULES, Found, Need
from ticdc_producer.verifier.options import VerifyOptions
from ticdc_producer.verifier.stream import classify, place


@dataclass(frozen=True, slots=True)
class Told:
    """What a reader can know of a stream.

    :param options: as for the verifier.
    :param types: events tell MySQL's types.
    :param flags: events tell column flags.
    :param decimals: DECIMAL keeps its digits.
    """

    options: VerifyOptions
    types: bool = True
    flags: bool = True
    decimals: bool = True

    def lacks(self, need: Need) -> bool:
        """Whether the stream does not tell this."""
        told = {
            "resolved": self.options.resolved,
            "types": self.types,
            "flags": self.flags,
            "table ids": self.options.table_ids,
            "commit-ts": self.options.commit_ts == "exact",
            "old values": self.options.old_value,
            "decimals": self.decimals,
        }
        return not told[need]


def exercised(decoded: DataFrame, told: Told) -> dict[str, Found | None]:
    """Every trap that the stream can show, by id; None where it does not happen.

    :param decoded: columns as the decoding stage gives them; read several times.
    """
    seen = _seen(decoded, told.options)
    return {
        trap: rule.exercised(seen)
        for trap, rule in RULES.items()
        if not any(told.lacks(need) for need in rule.needs)
    }


def _seen(decoded: DataFrame, options: VerifyOptions) -> Mapping[tuple[str, str], Found]:
    """By (feature, scope): as many rows as there are columns in tables, at most times features."""
    with kept(with_repetitions(classify(decoded, options))) as events:
        found = [
            cell_hits(decoded),
            definition_hits(decoded),
            key_hits(decoded),
            delivery_hits(events, options.max_batch_size),
        ]
        tallies = (
            reduce(DataFrame.union, found)
            .groupBy("feature", "scope")
            .agg(sf.count("*").alias("count"), first_place())
            .select("feature", "scope", "count", "place.*")
        )
        rows = tallies.select("feature", "scope", "count", place().alias("first")).collect()
    return {(row["feature"], row["scope"]): Found(row["count"], tuple(row["first"])) for row in rows}
