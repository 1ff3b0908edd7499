"""The topics of the apply level: ids that last, scenarios that run, and traps that find a place. No Spark."""

from __future__ import annotations

import re

import pytest

from ticdc_producer.conformance.apply_spec import Applying, applyings
from ticdc_producer.conformance.decode_spec import PROTOCOLS, tellings
from ticdc_producer.faults.catalogue import catalogue
from ticdc_producer.runs.prepare import Job, prepare

_ID = re.compile(rf"required\.({'|'.join(PROTOCOLS)})\.apply\.[a-z0-9_-]+(\.[a-z0-9]+(-[a-z0-9]+)*)?")
CASES = {one.id: one for one in applyings()}


def prepared(one: Applying) -> Job:
    form = one.form
    return prepare(
        form.scenario, sink_uri=one.sink_uri, sets=form.sets, inject=form.inject, state_at=one.moments
    )


def test_ids_are_unique_of_one_form_and_none_of_the_decode_level() -> None:
    ids = [one.id for one in applyings()]
    assert len(set(ids)) == len(ids)
    assert [one for one in ids if _ID.fullmatch(one) is None] == []
    assert not set(ids) & {one.id for one in tellings()}


def test_every_protocol_meets_the_traps_that_break_consumers() -> None:
    asked = {
        "duplicate-message", "replay-suffix", "resolved-fallback", "duplicate-ddl",
        "key-update-across-partitions", "raw-key-update",
    }  # fmt: skip
    for protocol in PROTOCOLS:
        assert asked <= {one.name.partition(".")[2] for one in applyings() if one.protocol == protocol}


def test_a_trap_is_legal_and_its_case_has_its_name() -> None:
    traps = catalogue()
    for one in applyings():
        for setting in one.form.inject:
            trap = setting.partition(":")[0]
            assert traps[trap].legal
            assert one.name.endswith(f".{trap}")


@pytest.mark.parametrize("one", CASES.values(), ids=list(CASES))
def test_every_topic_has_commits_and_what_its_case_asks(one: Applying) -> None:
    job = prepared(one)
    tables = {table.qualified_name for table in job.stream.replicated}
    assert set(one.form.tables) <= tables
    assert (job.faults is None) == (not one.form.inject)
    if one.form.resolved_ts is not None:
        clock = job.stream.resolved.clock
        assert clock.ts(0) < one.form.resolved_ts < clock.ts(job.history.commits - 1)
        assert one.form.resolved_ts in one.moments
