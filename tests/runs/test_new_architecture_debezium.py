"""Debezium of TiCDC new architecture: defaults that it cannot read, and handle keys on virtual columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.sql_messages import job_of, messages_of, values_of
from ticdc_producer.protocols.debezium.decoder import DebeziumDecoder

DEFAULTS = [
    ("time(1)", "'-00:00:01.1'", -1100000, 0),
    ("time", "'01:02:03'", 3723000000, 0),
    ("time(6)", "'838:59:58.999999'", 3020398999999, 0),
    ("bigint unsigned", "9223372036854775808", -(1 << 63), 0),
    ("bigint unsigned", "18446744073709551615", -1, 0),
    ("bigint unsigned", "9223372036854775807", (1 << 63) - 1, (1 << 63) - 1),
    ("bigint", "-9223372036854775808", -(1 << 63), -(1 << 63)),
    ("int unsigned", "4294967295", 4294967295, 4294967295),
    ("decimal(20)", "-7", -7, -7),
    ("double", "1.5", 1.5, 1.5),
    ("varchar(9)", "'x'", "x", "x"),
    ("bit(8)", "b'101'", "BQ==", "BQ=="),
    ("enum('a','b')", "'b'", "b", "b"),
]


@pytest.mark.parametrize(
    "options",
    [
        "",
        *(
            pytest.param(f"&{name}=true", marks=pytest.mark.slow)
            for name in ("debezium-disable-schema", "enable-tidb-extension")
        ),
    ],
)
@pytest.mark.parametrize(("column", "default", "classic", "new"), DEFAULTS)
def test_null_in_a_column_with_a_default(
    tmp_path: Path, column: str, default: str, classic: object, new: object, options: str
) -> None:
    table = f"create table t (id int primary key, c {column} default {default});"
    script = f"{table} insert into t values (1, null)"
    for profile, sent in (("classic", classic), ("new", new)):
        uri = f"protocol=debezium&profile={profile}{options}"
        ((key, value),) = messages_of(tmp_path, script, uri, "row")
        assert json.loads(value)["payload"]["after"]["c"] == sent
        (event,) = DebeziumDecoder().events(key, value)
        job = job_of(tmp_path, script, uri)
        column_info = job.catalog.tables[-1].columns[1]
        assert event.after["c"] == job.encoder.fidelity.full_projection(column_info)(None)


def _keys(folder: Path, script: str, options: str = "") -> list[Any]:
    uri = f"protocol=debezium&profile=new{options}"
    return [json.loads(key) for key, _ in messages_of(folder, script, uri, "row")]


VIRTUAL = (
    "create table t (a int not null, h int as (a + 1) virtual not null, unique key (h));"
    " insert into t (a) values (1); update t set a = 2; delete from t;"
)
FIELD = {"type": "int32", "optional": False, "field": "h"}


def test_the_key_of_a_virtual_column(tmp_path: Path) -> None:
    keys = _keys(tmp_path, VIRTUAL)
    assert [key["payload"] for key in keys] == [{"h": None}] * 3
    assert [key["schema"]["fields"] for key in keys] == [[FIELD]] * 3
    assert _keys(tmp_path, VIRTUAL, "&debezium-disable-schema=true") == [{"payload": {"h": None}}] * 3


def test_a_key_with_stored_and_virtual_columns_is_in_table_order(tmp_path: Path) -> None:
    script = VIRTUAL.replace("unique key (h)", "s int as (a) stored not null, unique key (h, s, a)")
    keys = _keys(tmp_path, script)
    assert list(keys[0]["payload"].items()) == [("a", 1), ("h", None), ("s", 1)]
    assert [field["field"] for field in keys[0]["schema"]["fields"]] == ["a", "h", "s"]


def test_such_a_message_is_decoded(tmp_path: Path) -> None:
    (key, value), *_ = messages_of(tmp_path, VIRTUAL, "protocol=debezium&profile=new", "row")
    (event,) = DebeziumDecoder().events(key, value)
    assert event.after == {"a": b"1"}


def test_classic_ticdc_does_not_replicate_such_a_table(tmp_path: Path) -> None:
    other = "create table u (id int primary key); insert into u values (1);"
    (value,) = values_of(tmp_path, VIRTUAL + other, "protocol=debezium", "row")
    assert value["payload"]["source"]["table"] == "u"
