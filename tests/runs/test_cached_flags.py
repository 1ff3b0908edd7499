"""Flags of rows of partitions in Open Protocol, as TiCDC new architecture remembers them."""

from __future__ import annotations

import base64
import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import ticdc_producer
from tests.sql_messages import messages_of, simulation_of
from tests.tiers import one_in
from ticdc_producer.protocols.open_protocol.decoder import OpenDecoder

OPTIONS = "protocol=open-protocol&max-batch-size=1"
PARTITIONED = (
    "create table t (id int, v int, s varchar(9), primary key (id)) partition by {by};"
    " insert into t values (1, 1, 'a'), (2, 2, 'b');"
)
HASH = PARTITIONED.format(by="hash (id) partitions 2")


def _flags(folder: Path, script: str, options: str = "&profile=new") -> dict[str, int]:
    """The flags in the last row message."""
    *_, (_, value) = messages_of(folder, script, OPTIONS + options, "row")
    image: dict[str, Any] = json.loads(value[8:])
    columns = image.get("u") or image["d"]
    return {name: column["f"] for name, column in columns.items()}


@pytest.mark.parametrize(
    "by",
    [
        "hash (id) partitions 2",
        "key (id) partitions 2",
        "range (id) (partition p values less than (9))",
        "list (id) (partition p values in (1, 2, 3, 4))",
    ],
)
@pytest.mark.parametrize(
    ("alteration", "before", "new", "classic"),
    [
        ("add column n int", (11, 65, 64), {"n": 0}, {"n": 65}),
        ("rename column v to w", (11, None, 64), {"w": 0}, {"w": 65}),
        ("change v w bigint not null", (11, None, 64), {"w": 0}, {"w": 1}),
        ("modify v bigint not null", (11, 65, 64), {}, {"v": 1}),
        ("add index (v)", (11, 65, 64), {}, {"v": 97}),
        ("drop column v", (11, None, 64), {}, {}),
        ("comment = 'x'", (11, 65, 64), {}, {}),
    ],
)
def test_flags_after_an_alteration(
    tmp_path: Path,
    by: str,
    alteration: str,
    before: tuple[int | None, ...],
    new: dict[str, int],
    classic: dict[str, int],
) -> None:
    script = f"{PARTITIONED.format(by=by)} alter table t {alteration}; update t set s = 'z' where id = 1;"
    known = {name: flag for name, flag in zip("ivs", before, strict=True) if flag is not None}
    known["id"] = known.pop("i")
    assert _flags(tmp_path, script) == {**known, **new}
    assert _flags(tmp_path, script, "&profile=classic") == {**known, **classic}
    whole = script.replace(f" partition by {by}", "")
    assert _flags(tmp_path, whole) == {**known, **classic}


def test_the_first_row_of_a_partition_decides(tmp_path: Path) -> None:
    script = HASH.replace(", (2, 2, 'b')", "") + "alter table t add column n int unsigned;"
    assert _flags(tmp_path, f"{script} insert into t values (2, 2, 'b', 2)")["n"] == 193
    assert _flags(tmp_path, f"{script} insert into t values (3, 2, 'b', 2)")["n"] == 0
    again = f"{script} insert into t values (2, 2, 'b', 2); alter table t add column m int;"
    assert _flags(tmp_path, f"{again} delete from t where id = 2") == {
        "id": 11,
        "v": 65,
        "s": 64,
        "n": 193,
        "m": 0,
    }


def test_new_partitions_have_new_flags(tmp_path: Path) -> None:
    altered = f"{HASH} alter table t add column n int;"
    for part in (
        "truncate table t",
        "alter table t truncate partition all",
        "alter table t coalesce partition 1",
    ):
        assert _flags(tmp_path, f"{altered} {part}; insert into t values (7, 7, 'x', 7)")["n"] == 65


EXCHANGED = """
create table t (id int primary key, v int unsigned)
  partition by range (id) (partition p values less than (10), partition q values less than (20));
create table n (id int primary key, v int unsigned);
insert into n values (1, 1);
alter table t exchange partition p with table n;
"""


def test_an_exchanged_partition_keeps_the_flags_of_the_table(tmp_path: Path) -> None:
    altered = f"{EXCHANGED} alter table t add column b bit(1), add index (v);"
    assert _flags(tmp_path, f"{altered} insert into t values (2, 2, b'1')") == {"id": 11, "v": 193, "b": 0}
    assert _flags(tmp_path, f"{altered} insert into t values (12, 2, b'1')") == {"id": 11, "v": 225, "b": 193}


def test_an_exchanged_table_keeps_the_flags_of_the_partition_until_its_next_ddl(tmp_path: Path) -> None:
    script = """
    create table t (id int primary key) partition by range (id) (partition p values less than (10));
    insert into t values (1); alter table t add column b bit(1);
    create table n (id int primary key, b bit(1)); alter table t exchange partition p with table n;
    """
    assert _flags(tmp_path, f"{script} insert into n values (2, b'1')") == {"id": 11, "b": 0}
    assert _flags(tmp_path, f"{script} alter table n comment 'x'; insert into n values (2, b'1')")["b"] == 193


def test_a_row_that_moves_has_the_flags_of_both_partitions(tmp_path: Path) -> None:
    script = """
    create table t (id int primary key, v int unsigned)
      partition by range (id) (partition p values less than (10), partition q values less than (20));
    insert into t values (1, 1); alter table t add column b bit(1), add index (v);
    update t set id = 12 where id = 1;
    """
    _, (_, left), (_, arrived) = messages_of(tmp_path, script, f"{OPTIONS}&profile=new", "row")
    images = json.loads(left[8:])["d"], json.loads(arrived[8:])["u"]
    assert [[image[name]["f"] for name in ("id", "v", "b")] for image in images] == [
        [11, 193, 0],
        [11, 225, 193],
    ]


def test_rows_without_an_event_do_not_decide(tmp_path: Path) -> None:
    script = """
    create table t (id int primary key) partition by hash (id) partitions 1;
    begin; insert into t values (1); delete from t; commit;
    alter table t add column b bit(1); insert into t values (1, b'1');
    """
    assert _flags(tmp_path, script) == {"id": 11, "b": 193}


def test_a_column_keeps_its_mark_of_the_handle_key(tmp_path: Path) -> None:
    script = (
        "create table t (a int, b int not null, unique key (b)) partition by hash (b) partitions 1;"
        " insert into t values (1, 1); alter table t modify a int not null, add column c int;"
        " insert into t values (2, 2, 2);"
    )
    *_, (_, value) = messages_of(tmp_path, script, f"{OPTIONS}&profile=new", "row")
    columns = json.loads(value[8:])["u"]
    assert columns["b"] == {"t": 3, "h": True, "f": 19, "v": 2}
    assert (columns["a"]["f"], columns["c"]["f"]) == (65, 0)


def test_the_expected_events_have_these_flags(tmp_path: Path) -> None:
    script = f"{HASH} alter table t add column n int, add index (v); update t set n = 5"
    simulation = simulation_of(tmp_path, script, f"{OPTIONS}&profile=new")
    expected = [
        [(column["name"], column["type"], column["flag"]) for column in event["columns"]]
        for event in simulation.expected_events.to_pylist()
        if event["kind"] == "row"
    ]
    decoder = OpenDecoder()
    decoded = [
        [(column.name, column.type, column.flag) for column in event.columns]
        for key, value in messages_of(tmp_path, script, f"{OPTIONS}&profile=new", "row")
        for event in decoder.events(key, value)
    ]
    assert decoded == expected
    assert ("n", "int", 0) in decoded[-1]


def test_an_unsigned_number_without_its_flag_is_decoded(tmp_path: Path) -> None:
    script = f"{HASH} alter table t add column n int unsigned; insert into t values (4, 4, 'x', 4294967295)"
    *_, (key, value) = messages_of(tmp_path, script, f"{OPTIONS}&profile=new", "row")
    (event,) = OpenDecoder().events(key, value)
    assert event.after["n"] == b"4294967295"


_ALTERED = """create table p (id int primary key, n int unsigned, b bit(8), v varbinary(9))
    partition by {by};
insert into p values (1, 4000000000, b'101', 'x');
alter table p {alteration};
insert into p (id) values (3);
insert into p (id) values (2);
update p set b = b'11' where id = 1;
{later}
"""


PARTITIONS = (
    "hash (id) partitions 2",
    "key (id) partitions 3",
    "list (id) (partition p values in (1, 3), partition q values in (2))",
)
ALTERATIONS = (
    "add column c bit(4)",
    "rename column n to m",
    "modify n bigint unsigned",
    "add index (n)",
    "drop column n",
    "comment = 'x'",
)
LATER = ("", "truncate table p; insert into p (id) values (1), (2);")


@pytest.mark.parametrize(("by", "alteration", "later"), one_in(5, product(PARTITIONS, ALTERATIONS, LATER)))
def test_a_run_finds_no_violation(by: str, alteration: str, later: str, tmp_path: Path) -> None:
    file = tmp_path / "p.sql"
    file.write_text(
        "create database s; use s; " + _ALTERED.format(by=by, alteration=alteration, later=later), "utf-8"
    )
    report = ticdc_producer.run(file, sink_uri=f"kafka:///p?{OPTIONS}&profile=new", out=tmp_path / "out")
    assert report.ok, report.to_json()


@pytest.mark.parametrize("partitioned", [False, True])
def test_a_missing_ddl_is_a_violation(partitioned: bool, tmp_path: Path) -> None:
    """Rows of one partition have the same columns between two DDLs."""
    by = "partition by hash (id) partitions 2" if partitioned else ""
    file, out = tmp_path / "p.sql", tmp_path / "out"
    script = (
        f"create table p (id int primary key) {by}; insert into p values (1); alter table p add column c int;"
    )
    file.write_text(f"create database s; use s; {script} insert into p values (3, 3);", "utf-8")
    uri = f"kafka:///p?{OPTIONS}&profile=new&partition-num=1"
    assert ticdc_producer.run(file, sink_uri=uri, out=out).ok
    path = out / "messages.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    *_, ddl = (
        line for line in lines if b"alter table" in base64.b64decode(json.loads(line)["value"] or "").lower()
    )
    path.write_text("".join(line for line in lines if line != ddl), "utf-8")
    verdict = ticdc_producer.verify(sink_uri=uri, messages=path)
    assert "INV-SCHEMA" in {finding.id for finding in verdict.findings if finding.severity != "not checked"}
