"""A history is equal to itself in every pair of protocols, whatever its partitions and legal traps."""

from __future__ import annotations

from functools import cache

import pytest

from tests.faults.legal_together import TOGETHER, legal_traps
from tests.tiers import one_in
from tests.verifier.history.sides import OPTIONS, compared, job_of, side_of
from ticdc_producer.verifier.history.sides import HistorySide

SCENARIOS = ("seed_t1", "ddl-mix", "all-types", "migrations")
ALONE = {("all-types", "maxwell"), ("migrations", "open-protocol, new")}
"""Histories that equal only themselves: an encoder rejects rows; RENAME TABLE has a text of its own."""
NOT_TOGETHER = {"idle-partition", "handle-key-only", "claim-check"}
RATES = {"duplicate-event": "rate=0.3", "duplicate-message": "rate=0.3", "regrouped-batches": "rate=1"}


@cache
def plain(scenario: str) -> HistorySide:
    return side_of(job_of(scenario, "open-protocol", partitions=2))


@cache
def side(scenario: str, protocol: str) -> HistorySide:
    return side_of(job_of(scenario, protocol, partitions=3))


@cache
def trapped(protocol: str) -> HistorySide:
    """The history with every legal trap that can occur together with others."""
    name, _, variant = protocol.partition(", ")
    traps = [
        f"{trap}:{RATES[trap]}" if trap in RATES else trap
        for trap in legal_traps(name, "new" if variant == "new" else "classic")
        if trap not in NOT_TOGETHER
    ]
    return side_of(job_of(TOGETHER, protocol, partitions=3, traps=traps))


@cache
def together(protocol: str) -> HistorySide:
    return side_of(job_of(TOGETHER, protocol, partitions=1))


@pytest.mark.parametrize("protocol", OPTIONS)
def test_a_history_with_traps_equals_the_one_without(protocol: str) -> None:
    for a, b in (
        (trapped(protocol), together("open-protocol")),
        (together("open-protocol"), trapped(protocol)),
    ):
        diff = compared(a, b)
        assert [table.examples for table in diff.tables if not table.ok] == []
        assert diff.equal
        assert {table.name: table.equal for table in diff.tables if table.equal} == {
            "test.jobs": 13,
            "test.people": 6,
        }


@pytest.mark.parametrize("protocol", one_in(4, ([protocol] for protocol in OPTIONS)))
def test_ddls_and_rows_of_every_protocol_equal_those_of_open_protocol(protocol: str) -> None:
    diff = compared(plain("ddl-mix"), side("ddl-mix", protocol))
    assert [table.examples for table in diff.tables if not table.ok] == []
    assert diff.equal
    assert sum(table.equal for table in diff.tables) > 100


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("protocol", OPTIONS)
def test_every_pair(scenario: str, protocol: str) -> None:
    for other in OPTIONS:
        if ((scenario, protocol) in ALONE) == ((scenario, other) in ALONE):
            diff = compared(side(scenario, protocol), side(scenario, other))
            assert [table.examples for table in diff.tables if not table.ok] == [], other
            assert diff.tables
            assert diff.equal


@pytest.mark.slow
@pytest.mark.parametrize("protocol", OPTIONS)
def test_every_pair_with_traps(protocol: str) -> None:
    for other in OPTIONS:
        # Without the commit-ts of deletes, a split update is not known as the update of `raw-key-update`.
        if other.startswith("avro") <= protocol.startswith("avro"):
            diff = compared(trapped(protocol), together(other))
            assert [table.examples for table in diff.tables if not table.ok] == [], other
            assert diff.tables
            assert diff.equal


def test_rows_that_an_encoder_rejects_are_a_difference() -> None:
    diff = compared(plain("all-types"), side("all-types", "maxwell"))
    assert not diff.equal
    assert {example.kind for table in diff.tables for example in table.examples} == {"only in A"}


def test_the_profiles_have_another_text_of_a_rename() -> None:
    diff = compared(side("migrations", "open-protocol, new"), side("migrations", "simple"))
    (example,) = (example for table in diff.tables for example in table.examples)
    assert example.kind == "DDL, query"
    assert example.table == "shop.delivery_addresses"
    assert example.a is not None
    assert "RENAME TABLE `shop`.`addresses`" in example.a
