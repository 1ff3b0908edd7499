"""What runs write, and what verifications find, is what ``digests.json`` records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pytest
from pyspark.sql import SparkSession

from tests.conftest import EXHAUSTIVE
from tests.runs.digests import ALONE, EVERY, PARTS, RECORDED, TAKES_LONG, cases, digests

FAST = (
    "seed_t1/own",
    "bank/open-protocol",
    "faults/legal/open-protocol",
    "faults/illegal/canal-json-tidb",
    "large/claim-check/open-protocol",
    "large/skip/canal-json",
    "new/migrations/simple",
    "new/seed_t1/simple",
    "state-at/migrations",
    "storage/seed_t1/csv",
)
IN_EACH_PROTOCOL_ON_SPARK = ("all-traps", "faults/legal", "faults/illegal")
IN_ONE_PROTOCOL = (*TAKES_LONG, "generated/expression")


def in_one_protocol() -> set[str]:
    """The cases of no protocol, and one of those that differ by their protocol alone.

    Which protocol that is changes from scenario to scenario.
    """
    groups: dict[str, list[str]] = {}
    for name in cases():
        group, _, protocol = name.rpartition("/")
        groups.setdefault(group if protocol in EVERY else name, []).append(name)
    return {names[crc32(group.encode()) % len(names)] for group, names in groups.items()}


def of_local_engine() -> list[str]:
    """The cases that the fast tests do not have; those that take long in one protocol each."""
    selected = in_one_protocol()
    return [
        name
        for name in cases()
        if name not in FAST
        and (EXHAUSTIVE or name in selected or name.rpartition("/")[0] not in IN_ONE_PROTOCOL)
    ]


def of_spark() -> list[str]:
    """All scenarios and options, most in one protocol each; a trap is there with others."""
    alone = {f"faults/{setting.partition(':')[0]}/open-protocol" for setting in ALONE}
    selected = in_one_protocol() - alone
    return [
        name
        for name in cases()
        if EXHAUSTIVE or name in selected or name.rpartition("/")[0] in IN_EACH_PROTOCOL_ON_SPARK
    ]


@pytest.fixture(scope="module")
def recorded() -> dict[str, str]:
    digests: dict[str, str] = json.loads(RECORDED.read_text("utf-8"))
    return digests


def _of_case(name: str, recorded: dict[str, str]) -> dict[str, str]:
    return {key: recorded[key] for part in PARTS if (key := f"{name}{part}") in recorded}


def test_exactly_the_cases_are_recorded(recorded: dict[str, str]) -> None:
    keys = [key for name in cases() for key in _of_case(name, recorded)]
    assert sorted(keys) == sorted(recorded)
    assert all(_of_case(name, recorded) for name in cases())


@pytest.mark.parametrize("name", FAST)
def test_a_few_cases_have_the_recorded_digests(name: str, tmp_path: Path, recorded: dict[str, str]) -> None:
    assert digests(name, tmp_path) == _of_case(name, recorded)


@pytest.mark.slow
@pytest.mark.parametrize("name", of_local_engine())
def test_every_case_has_the_recorded_digests(
    spark: SparkSession, name: str, tmp_path: Path, recorded: dict[str, str]
) -> None:
    """Every case, but ``IN_ONE_PROTOCOL``."""
    assert digests(name, tmp_path) == _of_case(name, recorded)


@pytest.mark.slow  # fast: test_engines.py
@pytest.mark.parametrize("name", of_spark())
def test_cases_are_the_same_on_spark(
    spark: SparkSession, name: str, tmp_path: Path, recorded: dict[str, str]
) -> None:
    """Every scenario, option, trap and protocol; not each scenario and option in each protocol.

    The local engine writes them in each, and Spark runs the same encoders on the same datasets. There is one
    part, a few, or more than most tables have rows, by the name of the case.
    """
    with _parts(spark, (1, 3, 16)[crc32(name.encode()) % 3]):
        assert digests(name, tmp_path, {"engine": "spark"}) == _of_case(name, recorded)


@contextmanager
def _parts(spark: SparkSession, number: int) -> Iterator[None]:
    """Shuffle into a number of parts while the block runs."""
    setting = "spark.sql.shuffle.partitions"
    before = spark.conf.get(setting)
    spark.conf.set(setting, str(number))
    try:
        yield
    finally:
        spark.conf.set(setting, before)
