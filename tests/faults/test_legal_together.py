"""Legal traps stay legal together: no pair of them, nor all at once, is an error to the verifier."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.legal_together import Outcome, legal_traps, outcome, outcome_of_topic, pairs
from ticdc_producer.kafka.embedded import EmbeddedKafka

ALMOST_ALL = tuple(
    name
    for name in legal_traps("open-protocol")
    if name not in ("idle-partition", "handle-key-only", "claim-check")
)
FAST = [
    ("open-protocol", "classic", "", ("regrouped-batches", "batch-boundaries")),
    ("open-protocol", "classic", "ts", ("regrouped-batches",)),
    ("open-protocol", "classic", "columns, columns: [id]", ("regrouped-batches", "raw-key-update")),
    ("open-protocol", "classic", "", ALMOST_ALL),
    ("canal-json", "new", "", ("duplicate-message", "replay-partial")),
    ("debezium", "new", "", ("replay-one-table", "raw-key-update")),
    ("avro", "classic", "", ("duplicate-message", "replay-suffix")),
    ("craft", "classic", "", ("duplicate-event", "replay-suffix")),
    ("maxwell", "classic", "", ("regrouped-batches", "batch-boundaries", "duplicate-event")),
    ("canal", "classic", "", ("regrouped-batches", "batch-boundaries", "replay-suffix")),
]
FAST_TOPICS = [
    ("open-protocol", "classic", "", ALMOST_ALL),
    ("canal-json", "new", "", ("claim-check", "duplicate-ddl")),
    ("simple", "classic", "", ("duplicate-ddl", "duplicate-message")),
]
MATRIX = [
    ("open-protocol", "classic", ""), ("open-protocol", "new", ""), ("open-protocol", "classic", "ts"),
    ("open-protocol", "new", "table"), ("open-protocol", "classic", "columns, columns: [id]"),
    ("craft", "classic", ""), ("canal-json", "classic", ""), ("canal-json", "new", ""),
    ("debezium", "new", ""), ("debezium", "classic", ""), ("simple", "classic", ""), ("simple", "new", "ts"),
    ("avro", "classic", ""), ("avro", "new", ""),
]  # fmt: skip


def printed(outcome: Outcome) -> str:
    return f"{' + '.join(outcome.traps):60} {' '.join(outcome.errors) or '-'}"


@pytest.mark.parametrize(("protocol", "profile", "rule", "traps"), FAST)
def test_legal_traps_together_are_no_error(
    protocol: str, profile: str, rule: str, traps: tuple[str, ...], tmp_path: Path
) -> None:
    observed = outcome(protocol, traps, tmp_path, profile, rule)
    assert {*traps} == observed.occurred
    assert not observed.errors


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "profile", "rule"), MATRIX)
def test_every_pair_of_legal_traps_is_no_error(
    protocol: str, profile: str, rule: str, tmp_path: Path
) -> None:
    outcomes = [outcome(protocol, traps, tmp_path, profile, rule) for traps in pairs(protocol, profile)]
    print("\n".join(map(printed, outcomes)))
    assert not [(pair.traps, pair.errors) for pair in outcomes if pair.errors]
    never = {*legal_traps(protocol, profile)} - {trap for pair in outcomes for trap in pair.occurred}
    assert not never


@pytest.mark.parametrize(("protocol", "profile", "rule", "traps"), FAST_TOPICS)
def test_legal_traps_together_are_no_error_in_a_topic(
    kafka: EmbeddedKafka, protocol: str, profile: str, rule: str, traps: tuple[str, ...], tmp_path: Path
) -> None:
    observed = outcome_of_topic(
        kafka.bootstrap, f"together-{protocol}", protocol, traps, tmp_path, profile, rule
    )
    assert {*traps} == observed.occurred
    assert not observed.errors


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "profile", "rule"), MATRIX)
def test_every_pair_of_legal_traps_is_no_error_in_a_topic(
    kafka: EmbeddedKafka, protocol: str, profile: str, rule: str, tmp_path: Path
) -> None:
    run = f"pairs-{MATRIX.index((protocol, profile, rule))}"
    outcomes = [
        outcome_of_topic(kafka.bootstrap, f"{run}-{number}", protocol, traps, tmp_path, profile, rule)
        for number, traps in enumerate(pairs(protocol, profile))
    ]
    print("\n".join(map(printed, outcomes)))
    assert not [(pair.traps, pair.errors) for pair in outcomes if pair.errors]
    never = {*legal_traps(protocol, profile)} - {trap for pair in outcomes for trap in pair.occurred}
    assert not never
