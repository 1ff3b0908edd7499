"""Faults of small streams move to positions that the stream has, or the reason says what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.runs.digests import FAULTY
from ticdc_producer.errors import FaultError
from ticdc_producer.faults.catalogue import catalogue, trap
from ticdc_producer.simulate.fitted_faults import check_times_are_known, with_fitted_faults
from ticdc_producer.simulate.job import Job
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.simulate.simulate import simulated_topic

OF_STREAMS = {
    name: entry
    for name, entry in catalogue().items()
    if entry.mechanism in ("event", "message") and "open-protocol" in entry.protocols
}
LEGAL = [name for name, entry in OF_STREAMS.items() if entry.legal]
ILLEGAL = [name for name, entry in OF_STREAMS.items() if not entry.legal]
LACKED = {
    "seed_t1": {"oversized", "ddl-before-its-rows", "unsplit"},
    "bank": {"ddl-before-its-rows", "unsplit"},
    "orders": {"ddl-before-its-rows", "unsplit"},
}
"""Traps that require what the stream of a scenario does not have."""
slow = pytest.mark.slow


def fitted(scenario: str, *inject: str, seed: int = 1, **options: Any) -> Job:
    return with_fitted_faults(prepare(scenario, inject=inject, seed=seed, **options))


def occurrences(job: Job) -> list[str]:
    return [fault["trap"] for fault in simulated_topic(job).faults]


@pytest.mark.parametrize(
    ("scenario", "seed", "names"),
    [
        ("seed_t1", 2, LEGAL),
        pytest.param("seed_t1", 1, ILLEGAL, marks=slow),
        *(pytest.param(name, seed, LEGAL, marks=slow) for name in ("bank", "orders") for seed in (1, 2)),
        *(pytest.param(name, 1, ILLEGAL, marks=slow) for name in ("bank", "orders")),
    ],
)
def test_a_trap_occurs_or_the_reason_names_what_is_missing(
    scenario: str, seed: int, names: list[str]
) -> None:
    for name in names:
        job = fitted(scenario, name, seed=seed)
        if name in LACKED[scenario]:
            assert occurrences(job) == []
            assert trap(name).requires
            assert job.not_injected == {name: f"the stream lacks what it requires: {trap(name).requires}"}
        else:
            assert {*occurrences(job)} == {name}
            assert not job.not_injected


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["lost-row", "early-resolved", "truncated", "duplicate-event"])
def test_a_stream_of_seven_rows_has_positions_under_each_seed(name: str, seed: int) -> None:
    assert name in occurrences(fitted("seed_t1", name, seed=seed))


def test_faults_that_have_an_effect_stay_where_they_were_drawn() -> None:
    names = [name for name in ILLEGAL if name not in ("oversized", "unsplit", "wrong-checksum")]
    job = prepare(FAULTY, inject=[*names, "replay-suffix:times=2", "duplicate-event"])
    assert with_fitted_faults(job).faults == job.faults


AS_TEXT = (
    "enable-tidb-extension=true&avro-decimal-handling-mode=string&avro-bigint-unsigned-handling-mode=string"
)


@pytest.mark.parametrize(
    "protocol",
    [
        "simple",
        "simple&encoding-format=avro",
        f"avro&{AS_TEXT}",
        f"avro&{AS_TEXT}&avro-enable-watermark=true",
    ],
)
@pytest.mark.parametrize("level", ["correctness", "none"])
def test_a_wrong_checksum_occurs_where_rows_have_checksums(protocol: str, level: str) -> None:
    options: dict[str, Any] = {
        "sink_uri": f"kafka:///t?protocol={protocol}",
        "config": {"integrity": {"integrity-check-level": level}},
    }
    expected = ["wrong-checksum"] if level == "correctness" else []
    assert occurrences(fitted("seed_t1", "wrong-checksum", **options)) == expected


def test_a_rate_that_draws_nothing_is_the_reason() -> None:
    job = fitted("seed_t1", "duplicate-event:rate=0.001")
    assert job.not_injected == {"duplicate-event": "the rate 0.001 drew none of the 7 events"}


def test_other_faults_that_leave_no_position_are_the_reason() -> None:
    job = fitted("seed_t1", "lost-row", "wrong-partition", "changed-duplicate")
    assert len(job.not_injected) == 1
    (reason,) = job.not_injected.values()
    assert "fit, but the other faults leave it no segment of its own" in reason


def test_times_are_met_exactly() -> None:
    assert occurrences(fitted("seed_t1", "lost-row:times=2")) == ["lost-row"] * 2
    assert occurrences(fitted("bank", "wrong-partition:times=30")) == ["wrong-partition"] * 30


@pytest.mark.parametrize(
    ("inject", "message"),
    [
        ("lost-row:times=3", "the stream has positions for 2 such faults"),
        ("lost-row:times=20", "the stream has positions for 2 such faults"),
        ("lost-message:times=3", "the stream has positions for 2 such faults"),
        ("unsplit:times=1", "no such faults .it requires an update of a non-clustered primary key"),
    ],
)
def test_times_that_the_stream_has_no_positions_for_are_refused(inject: str, message: str) -> None:
    with pytest.raises(FaultError, match=message):
        fitted("seed_t1", inject)


def test_times_of_a_stream_whose_positions_are_not_counted_are_refused() -> None:
    large = ["steps[1].generate.transactions=200000"]
    with pytest.raises(FaultError, match="`messages_only` cannot be combined with `times` of lost-row"):
        check_times_are_known(prepare("bank", overrides=large, inject=["lost-row:times=2"]))
    check_times_are_known(prepare("bank", overrides=large, inject=["lost-row"]))
    check_times_are_known(prepare("bank", inject=["lost-row:times=2"]))


KEY_CHANGES = """
CREATE DATABASE d; USE d;
CREATE TABLE t (id BIGINT PRIMARY KEY, u INT UNIQUE);
INSERT INTO t VALUES (1, 1), (72057594037927937, 2);
UPDATE t SET u = u + 10;
"""
"""The row keys of the ids differ in their first byte alone."""


@pytest.mark.parametrize("profile", ["classic", "new"])
def test_both_halves_of_an_update_that_is_sent_whole_are_of_one_row(profile: str, tmp_path: Path) -> None:
    (script := tmp_path / "keys.sql").write_text(KEY_CHANGES)
    uri, ids = f"kafka:///t?protocol=open-protocol&max-batch-size=1&profile={profile}", set()
    for seed in range(1, 9):
        topic = simulated_topic(fitted(str(script), "unsplit", sink_uri=uri, seed=seed))
        values = [message.value or b"" for sent in topic.partitions.values() for message in sent]
        (update,) = [json.loads(value[8:]) for value in values if b'"p":' in value]
        assert update["p"]["id"]["v"] == update["u"]["id"]["v"]
        ids.add(update["u"]["id"]["v"])
    assert len(ids) == 2
