"""The schema files of a history, and the directories of rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GOLDEN
from ticdc_producer.errors import ChangefeedError
from ticdc_producer.simulate.prepare import prepare
from ticdc_producer.targets.storage.plan import Layout, StoragePlan, plan_storage

START = 429918007904436226
STEP = 1000 << 18


def _plan(path: Path, *overrides: str, uri: str = "file:///out?protocol=csv") -> StoragePlan:
    job = prepare(path, sink_uri=uri, overrides=["on-error=skip", *overrides])
    versions = [table.version for table in job.stream.replicated]
    layout = Layout.of(job.changefeed)
    return plan_storage(job.history.catalog, versions, job.stream.resolved.clock, layout)


def _of_sql(tmp_path: Path, sql: str, *overrides: str) -> StoragePlan:
    path = tmp_path / "s.sql"
    path.write_text(sql)
    return _plan(path, *overrides)


def test_a_database_and_a_table(tmp_path: Path) -> None:
    plan = _of_sql(tmp_path, "CREATE DATABASE d;\nCREATE TABLE d.t (id INT PRIMARY KEY);\nDROP TABLE d.t;\n")
    database, created, dropped = plan.files
    assert database.startswith(f"d/meta/schema_{START}_")
    assert created.startswith(f"d/t/meta/schema_{START + STEP}_")
    assert dropped.startswith(f"d/t/meta/schema_{START + 2 * STEP}_")
    assert plan.files[created].checksum == plan.files[dropped].checksum
    assert plan.folders == {0: [f"d/t/{START + STEP}"]}


def test_exchange_partition_writes_both_tables() -> None:
    plan = _plan(GOLDEN / "visible" / "partition.sql")
    ts = START + 13 * STEP
    both = [file for file in plan.files.values() if file.version == ts]
    assert [(file.table, bool(file.query), file.type) for file in both] == [
        ("p_range", True, 42),
        ("p_ex", False, 0),
    ]


def test_after_a_ddl_that_is_not_sent_rows_stay_where_they_were() -> None:
    """ddl_many: AUTO_ID_CACHE, CACHE and placement are discarded."""
    plan = _plan(GOLDEN / "visible" / "ddl_many.sql")
    assert plan.folders[26] == plan.folders[25]
    assert plan.folders[53] == plan.folders[22]
    assert not plan.data_only


CREATED = "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n"
_IGNORED = "changefeed.filter.event-filters=[{{matcher: ['test.*'], ignore-event: [{}]}}]"


def test_a_table_whose_ddl_is_not_sent_has_a_file_for_its_rows(tmp_path: Path) -> None:
    plan = _of_sql(tmp_path, CREATED, _IGNORED.format("create table"))
    assert not plan.files
    (folder,) = plan.data_only
    assert [folder] == plan.folders[0] == [f"test/t/{START}"]
    assert not plan.used([])
    (file,) = plan.used([f"{folder}/2021-12-20"]).values()
    assert (file.query, file.type, file.table) == ("", 0, "t")


def test_rows_that_no_schema_file_describes_are_refused(tmp_path: Path) -> None:
    sql = CREATED + "ALTER TABLE t ADD COLUMN v INT;\nINSERT INTO t VALUES (2, 2);\n"
    plan = _of_sql(tmp_path, sql, _IGNORED.format("alter table"))
    assert plan.used([f"{plan.folders[0][0]}/2021-12-20"])
    with pytest.raises(ChangefeedError, match="no schema file describes its rows"):
        plan.used([f"{plan.folders[1][0]}/2021-12-20"])


@pytest.mark.parametrize("name", ["a/b", "..", "meta", "a\\b"])
def test_names_that_would_lead_out_of_their_directory_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ChangefeedError, match="cannot be the name of a directory"):
        _of_sql(tmp_path, f"CREATE TABLE `{name}` (id INT PRIMARY KEY);\n")


BY_ID = "file:///out?protocol=csv&profile=new&use-table-id-as-path=true"


def test_directories_by_table_id(tmp_path: Path) -> None:
    sql = """
    CREATE DATABASE d;
    CREATE TABLE d.t (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2;
    ALTER TABLE d.t ADD COLUMN v INT;
    ALTER TABLE d.t COMMENT 'x';
    """
    path = tmp_path / "s.sql"
    path.write_text(sql)
    plan = _plan(path, uri=BY_ID)
    (table,) = {file.rpartition("/meta/")[0] for file in plan.files}
    ids = [int(table) + 1, int(table) + 2]
    created, altered = START + STEP, START + 2 * STEP
    assert len(plan.files) == 3
    assert plan.folders == {
        0: [f"{number}/{created}" for number in ids],
        1: [f"{number}/{altered}" for number in ids],
        2: [f"{number}/{altered}" for number in ids],
    }
    used = plan.used([f"{ids[0]}/{altered}/2021-12-20"])
    (added,) = used.keys() - plan.files.keys()
    assert added.startswith(f"{ids[0]}/meta/schema_{altered}_")
    assert (used[added].table, used[added].query, len(used[added].columns)) == ("t", "", 2)
