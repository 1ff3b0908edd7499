"""A fake topic of the apply level, made without Spark: one message, one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ticdc_producer.conformance.case_spec import ApplyCaseSpec, apply_case_specs, decode_cases
from ticdc_producer.conformance.catalog import build_case
from ticdc_producer.conformance.corpus import write_case
from ticdc_producer.runs import topic_cache

CASE = "required.open-protocol.apply.seed_t1"
ROW = {"id": "2", "owner": "bob", "balance": "50.00"}


def apply_spec() -> ApplyCaseSpec:
    (one,) = [one for one in apply_case_specs() if one.id == CASE]
    return one


def use_fake_topics(monkeypatch: pytest.MonkeyPatch, cache: Path) -> list[topic_cache.Topic]:
    """Replace every topic by the message of an insert.

    :param cache: an empty folder.
    :return: the list to which requested topics are appended.
    """
    made: list[topic_cache.Topic] = []

    def make(topic: topic_cache.Topic, folder: Path) -> None:
        made.append(topic)
        golden = folder / "golden"
        golden.mkdir()
        (insert,) = [one for one in decode_cases() if one.id == "required.open-protocol.rows.insert"]
        write_case(golden, build_case(insert, lambda _: None))
        table = {
            "schema": "test", "table": "accounts", "key": ["id"],
            "types": dict.fromkeys(ROW, "varchar"), "rows": [ROW],
        }  # fmt: skip
        (folder / "consumer_state.json").write_text(json.dumps({"end": [table]}), "utf-8")

    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(cache))
    monkeypatch.setattr(topic_cache, "_make", make)
    return made
