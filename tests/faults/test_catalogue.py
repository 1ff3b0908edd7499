"""The trap catalogue says of every trap what happens, who notices and what a consumer does."""

from __future__ import annotations

import json

import pytest
import yaml
from pydantic import ValidationError

from ticdc_producer.config import PARAMETERS, State
from ticdc_producer.errors import FaultError, ProducerError
from ticdc_producer.faults.catalogue import (
    EXPECTED_EVENTS,
    Trap,
    catalogue,
    catalogue_schema,
    catalogue_text,
    trap,
)
from ticdc_producer.faults.trap import TrapEntry, TrapFile
from ticdc_producer.resources import bundled_dir
from ticdc_producer.verifier.invariants.registry import INVARIANTS

SPECIFIED = {
    "INV-FRAME", "INV-BATCH-SIZE", "INV-BATCH-KIND", "INV-BATCH-KEY", "INV-TS-SANE", "INV-ORDER-TABLE",
    "INV-ORDER-KEY", "INV-RESOLVED", "INV-RESOLVED-DDL", "INV-RESOLVED-MONO", "INV-RESOLVED-BROADCAST",
    "INV-RESOLVED-STALL", "INV-DDL-BROADCAST", "INV-DDL-SAME", "INV-DDL-ORDER", "INV-DDL-BARRIER-BEFORE",
    "INV-DDL-BARRIER-AFTER", "INV-ROW-PARTITION", "INV-KEY-PARTITION", "INV-TOPIC", "INV-KEY-UPDATE-SPLIT",
    "INV-TXN-DELETE-FIRST", "INV-COLLAPSE", "INV-DUP-CONTENT", "INV-DUP-ORDER",
    "INV-DUP-COMPLETE", "INV-ROW-STATE", "INV-OLD-IMAGE", "INV-SCHEMA", "INV-HANDLE", "INV-FLAGS",
    "INV-COMPLETE", "INV-CHECKSUM",
}  # fmt: skip
"""The invariants of docs/stream-semantics.md §11."""


def _shipped(name: str) -> str:
    return bundled_dir("schemas").joinpath(name).read_text(encoding="utf-8")


def test_the_published_schema_is_the_models() -> None:
    assert json.loads(_shipped("traps.schema.json")) == catalogue_schema()


def test_the_published_file_is_generated_from_the_classes() -> None:
    assert _shipped("traps.yaml") == catalogue_text(), "python -m ticdc_producer.faults.catalogue schemas"
    entries = TrapFile.model_validate(yaml.safe_load(_shipped("traps.yaml"))).traps
    assert {entry.id: entry for entry in entries} == {
        name: TrapEntry.of(trap) for name, trap in catalogue().items()
    }


@pytest.mark.parametrize("trap", catalogue().values(), ids=catalogue())
def test_every_trap_is_explained(trap: Trap) -> None:
    assert trap.summary.endswith(".")
    assert trap.consumer_action.endswith(".")
    assert "\n" not in trap.summary + trap.consumer_action + trap.requires
    assert trap.protocols
    assert trap.profiles


@pytest.mark.parametrize("trap", catalogue().values(), ids=catalogue())
def test_every_trap_names_invariants_that_exist(trap: Trap) -> None:
    assert {*trap.violates, *trap.may_report} <= SPECIFIED | {EXPECTED_EVENTS}
    assert not {*trap.violates} & {*trap.may_report}


def test_the_list_of_invariants_here_knows_those_that_are_checked() -> None:
    assert {invariant.id for invariant in INVARIANTS} <= SPECIFIED


def test_the_settings_of_a_trap_are_keys_of_a_changefeed_file() -> None:
    known = {option.file_key for option in PARAMETERS if option.state == State.HONOURED} | {
        "sink.dispatchers"
    }
    assert {key for trap in catalogue().values() for key in trap.changefeed_settings} <= known


def test_an_unknown_trap_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(FaultError, match="did you mean 'lost-message'") as caught:
        trap("lost-mesage")
    assert caught.value.trap == "lost-mesage"
    assert isinstance(caught.value, ProducerError)
    assert trap("lost-message").violates == (EXPECTED_EVENTS,)


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"violates": ["INV-FRAME"]}, "`violates`"),
        ({"changefeed_settings": {"force-replicate": True}}, "mechanism changefeed"),
        ({"violates": ["INV-frame"]}, "pattern"),
        ({"issues": ["4051"]}, "pattern"),
        ({"consumer_action": ""}, "at least 1"),
    ],
)
def test_a_trap_that_contradicts_itself_is_refused(changed: dict[str, object], complaint: str) -> None:
    good = {"id": "a", "summary": "A.", "legal": True, "mechanism": "event", "consumer_action": "B."}
    TrapEntry.model_validate(good)
    with pytest.raises(ValidationError, match=complaint):
        TrapEntry.model_validate(good | changed)


def test_two_traps_of_one_id_are_refused() -> None:
    entry = {"id": "a", "summary": "A.", "legal": True, "mechanism": "event", "consumer_action": "B."}
    with pytest.raises(ValidationError, match="duplicate trap id"):
        TrapFile.model_validate({"version": 1, "traps": [entry, entry]})
