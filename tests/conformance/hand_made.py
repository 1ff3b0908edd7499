"""A topic of the apply level that no Spark made: one message, one table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ticdc_producer.conformance.apply_spec import Applying, applyings
from ticdc_producer.conformance.case_folder import write_case
from ticdc_producer.conformance.catalog import built
from ticdc_producer.conformance.decode_spec import tellings
from ticdc_producer.runs import topic_cache

CASE = "required.open-protocol.apply.seed_t1"
ROW = {"id": "2", "owner": "bob", "balance": "50.00"}


def applying() -> Applying:
    (one,) = [one for one in applyings() if one.id == CASE]
    return one


def keep_by_hand(monkeypatch: pytest.MonkeyPatch, cache: Path) -> list[topic_cache.Topic]:
    """From now on every topic is the message of an insert.

    :param cache: an empty folder.
    :return: the topics that were made, as they come.
    """
    made: list[topic_cache.Topic] = []

    def make(topic: topic_cache.Topic, place: Path) -> None:
        made.append(topic)
        golden = place / "golden"
        golden.mkdir()
        (insert,) = [one for one in tellings() if one.id == "required.open-protocol.rows.insert"]
        write_case(golden, built(insert, lambda _: None))
        table = {
            "schema": "test", "table": "accounts", "key": ["id"],
            "types": dict.fromkeys(ROW, "varchar"), "rows": [ROW],
        }  # fmt: skip
        (place / "asked.json").write_text(json.dumps({"end": [table]}), "utf-8")

    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(cache))
    monkeypatch.setattr(topic_cache, "_make", make)
    return made
