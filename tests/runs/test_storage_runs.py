"""Runs into a storage: TiCDC's tree of files, with the bytes of its encoders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import ticdc_producer
from tests.golden_events import GOLDEN, NOW_OF_GOLDEN, GoldenRow
from tests.protocols.canal_json_messages import in_column_order
from tests.protocols.golden_messages import events_of, load_messages
from ticdc_producer.engine import EngineOption
from ticdc_producer.errors import ArgumentError, ChangefeedError, EncodeError, FolderError
from ticdc_producer.runs.run_report import RunReport

pytestmark = pytest.mark.usefixtures("spark")
BUILT = "clock.build-time=2000-01-01T00:00:00Z"
START, STEP = 429918007904436226, 1000 << 18


def _run(name: str, query: str, out: Path, *overrides: str) -> RunReport:
    path = GOLDEN / "visible" / f"{name}.sql"
    return ticdc_producer.run(
        path, sink_uri=f"file://{out}?{query}", overrides=["on-error=skip", BUILT, NOW_OF_GOLDEN, *overrides]
    )


def _tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _data(folder: Path) -> Iterator[bytes]:
    """Data files in the order in which a reader replays those of one table."""
    yield from (path.read_bytes() for path in sorted(folder.rglob("CDC0*")))


def test_csv_files_hold_ticdcs_bytes(tmp_path: Path) -> None:
    report = _run("strings", "protocol=csv", tmp_path / "out", "changefeed.sink.csv.include-commit-ts=true")
    path = GOLDEN / "visible" / "strings.csv.commit-ts.jsonl"
    golden, events = load_messages(path), events_of(path)
    wanted: dict[str, bytes] = {}
    for message in golden:
        (table,) = {row.table.name for seq in message.events if isinstance(row := events[seq], GoldenRow)}
        wanted[table] = wanted.get(table, b"") + (message.value or b"")
    assert {table: b"".join(_data(tmp_path / "out" / "test" / table)) for table in wanted} == wanted
    assert report.verdict is not None
    assert report.verdict.comparison is not None
    assert report.ok
    assert report.verdict.comparison.expected == sum(len(message.events) for message in golden)
    assert report.counts.by_kind()["row"]["events"] == sum(len(message.events) for message in golden)


def test_canal_json_files_hold_ticdcs_bytes_in_ticdcs_tree(tmp_path: Path, spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    trees = []
    try:
        for tasks in (1, 5):
            spark.conf.set("spark.sql.shuffle.partitions", tasks)
            _run("partition", "protocol=canal-json", tmp_path / str(tasks))
            trees.append(_tree(tmp_path / str(tasks)))
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", str(before))
    tree = trees[0]
    assert trees[1] == tree  # whatever the number of tasks
    golden = load_messages(GOLDEN / "visible" / "partition.canal-json.storage.jsonl")
    wanted = b"".join(message.value or b"" for message in golden).split(b"\r\n")
    rows = b"".join(_data(tmp_path / "1")).split(b"\r\n")
    assert sorted(rows) == sorted(in_column_order(row) if row else row for row in wanted)
    data = [path for path in tree if "/CDC0" in path]
    first = f"test/p_range/{START}/115/2021-12-20"
    assert f"{first}/CDC00000000000000000001.json" in data
    assert tree[f"{first}/meta/CDC.index"] == b"CDC00000000000000000001.json\n"
    last = max(int(path.split("/")[-1].split("_")[1]) for path in tree if "/meta/schema_" in path)
    assert tree["metadata"] == b'{"checkpoint-ts":%d}' % last


ACROSS_NODES = "changefeed.scheduler={enable-table-across-nodes: true}"
PARTITIONED = """
CREATE DATABASE d;
CREATE TABLE d.t (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2;
INSERT INTO d.t VALUES (1), (2), (3);
CREATE TABLE d.u (id INT PRIMARY KEY, v INT);
INSERT INTO d.u VALUES (1, 1);
ALTER TABLE d.u DROP COLUMN v;
INSERT INTO d.u VALUES (2);
"""


def _written(folder: Path, query: str, *overrides: str) -> tuple[str, Path]:
    """Run a script; return the sink URI and the script."""
    script, uri = folder / "script.sql", f"file://{folder}/out?{query}"
    script.write_text(PARTITIONED)
    report = ticdc_producer.run(script, sink_uri=uri, overrides=overrides)
    assert report.ok, report.to_json()
    return uri, script


def test_names_of_files_contain_the_dispatcher(tmp_path: Path) -> None:
    uri, script = _written(tmp_path, "protocol=csv&profile=new", ACROSS_NODES)
    tree = _tree(tmp_path / "out")
    by_dispatcher: dict[str, set[str]] = {}
    for path in tree:
        directory, _, name = path.rpartition("/")
        if name.endswith(".csv"):
            _, dispatcher, number = name.removesuffix(".csv").split("_")
            assert (len(number), dispatcher.isdecimal()) == (20, True)
            assert tree[f"{directory}/meta/CDC_{dispatcher}.index"] == f"{name}\n".encode()
            _, table, _, *partition, _ = directory.split("/")
            by_dispatcher.setdefault(dispatcher, set()).add("/".join([table, *partition]))
    assert sorted(len(tables) for tables in by_dispatcher.values()) == [1, 1, 1]
    verdict = ticdc_producer.verify(sink_uri=uri, scenario=script)
    assert verdict.ok
    assert sum(1 for _ in ticdc_producer.decode(sink_uri=uri)) == 5


def test_rows_of_several_dispatchers_have_no_common_order(tmp_path: Path) -> None:
    script, uri = tmp_path / "s.sql", f"file://{tmp_path}/out?protocol=csv&profile=new"
    script.write_text(
        "CREATE TABLE test.t (id INT PRIMARY KEY); INSERT INTO test.t VALUES (1), (2), (3), (4);"
    )
    ticdc_producer.run(script, sink_uri=uri)
    (file,) = (tmp_path / "out").rglob("CDC0*.csv")
    rows, meta = file.read_bytes().splitlines(keepends=True), file.parent / "meta"
    file.unlink()
    (meta / "CDC.index").unlink()
    for number, dispatcher in enumerate(("42", "7")):
        name = f"CDC_{dispatcher}_{1:020}.csv"
        (file.parent / name).write_bytes(b"".join(rows[number::2]))
        (meta / f"CDC_{dispatcher}.index").write_text(f"{name}\n")
    verdict = ticdc_producer.verify(sink_uri=uri, scenario=script)
    assert verdict.ok
    assert verdict.comparison is not None
    assert "order of rows" in verdict.comparison.not_compared
    (file.parent / name).write_bytes(rows[1])
    assert not ticdc_producer.verify(sink_uri=uri, scenario=script).ok


def test_classic_has_no_dispatchers(tmp_path: Path) -> None:
    _written(tmp_path, "protocol=csv", ACROSS_NODES)
    assert not [path for path in _tree(tmp_path / "out") if "CDC_" in path]


@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=pytest.mark.slow)])
def test_directories_by_table_id(tmp_path: Path, engine: EngineOption) -> None:
    uri, script = _written(tmp_path, "protocol=canal-json&profile=new&use-table-id-as-path=true")
    tree = _tree(tmp_path / "out")
    rows = [path.split("/") for path in tree if path.endswith("1.json") and "/meta/" not in path]
    tables = {table for table, *_ in rows}
    assert len(tables) == 3
    assert all(len(parts) == 4 for parts in rows)
    assert not [path for path in tree if path.startswith("d/")]
    described = {path.split("/")[0] for path in tree if "/meta/schema_" in path}
    assert tables < described
    assert len(described) == 4
    assert ticdc_producer.verify(sink_uri=uri, scenario=script, engine=engine).ok
    assert sum(1 for _ in ticdc_producer.decode(sink_uri=uri)) == 5


@pytest.mark.parametrize("query", ["protocol=canal-json", "protocol=csv"])
def test_a_partition_that_was_added_has_a_directory_of_its_own_version(tmp_path: Path, query: str) -> None:
    script, uri = (
        tmp_path / "script.sql",
        f"file://{tmp_path}/out?{query}&profile=new&use-table-id-as-path=true",
    )
    script.write_text(
        "CREATE TABLE test.t (id INT PRIMARY KEY)"
        " PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (10));"
        "INSERT INTO test.t VALUES (1);"
        "ALTER TABLE test.t ADD PARTITION (PARTITION p1 VALUES LESS THAN (20));"
        "INSERT INTO test.t VALUES (2), (11);"
    )
    report = ticdc_producer.run(script, sink_uri=uri)
    assert report.ok, report.to_json()
    assert ticdc_producer.verify(sink_uri=uri, scenario=script).ok
    assert sum(1 for _ in ticdc_producer.decode(sink_uri=uri)) == 3


def test_options_of_the_layout(tmp_path: Path) -> None:
    sink = "changefeed.sink"
    overrides = [
        f"{sink}.csv.output-field-header=true",
        f"{sink}.terminator='|'",
        f"{sink}.date-separator=month",
        f"{sink}.enable-partition-separator=false",
        f"{sink}.file-index-digit=6",
        f"{sink}.cloud-storage-config.flush-interval=2s",
        f"{sink}.cloud-storage-config.output-column-id=true",
    ]
    _run("partition", "protocol=csv&time-zone=-12:00", tmp_path / "out", *overrides)
    data = {path: content for path, content in _tree(tmp_path / "out").items() if "/CDC0" in path}
    folders = {path.rpartition("/")[0] for path in data}
    assert all(folder.count("/") == 3 and folder.endswith("/2021-12") for folder in folders)
    assert any(path.endswith("/CDC000002.csv") for path in data)
    assert all(content.startswith(b"ticdc-meta$operation,") for content in data.values())
    assert all(content.endswith(b"|") and b"\r\n" not in content for content in data.values())


@pytest.mark.parametrize("query", ["protocol=csv", "protocol=canal-json&enable-tidb-extension=true"])
@pytest.mark.parametrize("profile", ["classic", "new"])
def test_column_selectors_hide_columns_of_files_in_the_new_architecture(
    profile: str, query: str, tmp_path: Path
) -> None:
    scenario = tmp_path / "shop.sql"
    scenario.write_text(
        "CREATE TABLE test.u (id INT PRIMARY KEY, email VARCHAR(9), n INT, twice INT AS (n * 2) VIRTUAL);"
        "INSERT INTO test.u (id, email, n) VALUES (1, 'a@b', 2); UPDATE test.u SET n = 3;"
    )
    selectors = {"sink": {"column-selectors": [{"matcher": ["*.*"], "columns": ["*", "!email"]}]}}
    uri = f"file://{tmp_path}/out?{query}&profile={profile}"
    report = ticdc_producer.run(scenario, sink_uri=uri, config=selectors)
    assert report.ok
    assert (b"a@b" in b"".join(_data(tmp_path / "out"))) is (profile == "classic")
    (schema,) = (tmp_path / "out" / "test" / "u" / "meta").iterdir()
    assert b'"email"' in schema.read_bytes()
    assert ticdc_producer.verify(sink_uri=uri, config=selectors, scenario=scenario).ok


def test_rows_without_a_terminator_are_divided_where_json_ends(tmp_path: Path) -> None:
    uri, joined = (
        f"file://{tmp_path}/out?protocol=canal-json&enable-tidb-extension=true",
        "changefeed.sink.terminator=''",
    )
    report = ticdc_producer.run("seed_t1", sink_uri=uri, overrides=[joined])
    (content,) = _data(tmp_path / "out")
    assert content.count(b'}{"id":') == report.counts.by_kind()["row"]["events"] - 1
    assert report.ok
    options = {"sink": {"terminator": ""}}
    assert ticdc_producer.verify(sink_uri=uri, config=options, scenario="seed_t1", overrides=[joined]).ok


def test_rows_of_csv_that_nothing_could_divide_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ChangefeedError, match="an empty terminator joins the rows"):
        ticdc_producer.run(
            "seed_t1",
            sink_uri=f"file://{tmp_path}/out?protocol=csv",
            overrides=["changefeed.sink.terminator=''"],
        )
    assert not (tmp_path / "out").exists()


def test_a_folder_that_was_changed_is_found_out(tmp_path: Path) -> None:
    uri = f"file://{tmp_path}?protocol=csv"
    assert ticdc_producer.run("seed_t1", sink_uri=uri).ok
    assert ticdc_producer.verify(sink_uri=uri).ok
    (file,) = tmp_path.rglob("CDC0*")
    rows = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*rows[1:], b"garbage"]))
    (tmp_path / "metadata").unlink()
    verdict = ticdc_producer.verify(sink_uri=uri, scenario="seed_t1")
    assert {finding.id: finding.count for finding in verdict.findings} == {
        "STORAGE-LAYOUT": 1,
        "STORAGE-DECODE": 1,
    }
    assert verdict.comparison is not None
    assert (verdict.comparison.missing, verdict.comparison.unexpected) == (1, 0)
    with pytest.raises(ArgumentError, match="`strict_table_order` cannot be combined with a storage"):
        ticdc_producer.verify(sink_uri=uri, strict_table_order=True)


def test_the_ddls_of_schema_files_are_those_of_the_scenario(tmp_path: Path) -> None:
    uri, script = _written(tmp_path, "protocol=csv")
    created, dropped = sorted((tmp_path / "out" / "d" / "u" / "meta").glob("schema_*"))
    (of_database,) = (tmp_path / "out" / "d" / "meta").glob("schema_*")
    created.write_text(created.read_text().replace("`v` INT", "`v` DATE"))
    dropped.write_text(dropped.read_text().replace('"Type": 6', '"Type": 5'))
    of_database.unlink()
    assert ticdc_producer.verify(sink_uri=uri).ok, "their own checksums do not cover the DDL"
    verdict = ticdc_producer.verify(sink_uri=uri, scenario=script)
    (finding,) = verdict.findings
    assert (finding.id, finding.count, verdict.ok) == ("STORAGE-SCHEMA", 3, False)
    path, query = f"d/meta/{of_database.name}", "CREATE TABLE `d`.`u` (`id` INT PRIMARY KEY,`v` {})"
    assert [example.detail for example in finding.examples] == [
        f"{path}: it is missing; its Query is 'CREATE DATABASE `d`'",
        f"d/u/meta/{created.name}: its Query is {query.format('DATE')!r}, expected {query.format('INT')!r}",
        f"d/u/meta/{dropped.name}: its Type is 5, expected 6",
    ]


def test_a_schema_file_of_no_ddl_of_the_scenario_is_found(tmp_path: Path) -> None:
    uri, script = _written(tmp_path, "protocol=canal-json")
    last = sorted((tmp_path / "out" / "d" / "u" / "meta").glob("schema_*"))[-1]
    script.write_text(PARTITIONED.partition("ALTER TABLE")[0])
    (finding,) = ticdc_producer.verify(sink_uri=uri, scenario=script).findings
    what = "the scenario has no such file; its Query is 'ALTER TABLE `d`.`u` DROP COLUMN `v`'"
    assert [example.detail for example in finding.examples] == [f"d/u/meta/{last.name}: {what}"]


@dataclass(frozen=True)
class Edit:
    """A change in the first row of a file that its decoded event does not show.

    :param text: the member that is different.
    """

    protocol: str
    old: bytes
    new: bytes
    text: str


CSV_WITH_HANDLE = [
    f"changefeed.sink.csv.{name}=true"
    for name in ("include-commit-ts", "output-old-value", "output-handle-key")
]
EDITS = {
    "handle": Edit("csv", b',"1",1,', b',"9",1,', r'value[0][5] is "\"9\"", expected "\"1\""'),
    "quotes": Edit("csv", b',"1",1,', b",1,1,", r'value[0][5] is "1", expected "\"1\""'),
    "digits": Edit("csv", b',"test",4', b',"test",04', 'value[0][3] is "0415508878783938562"'),
    "id": Edit("canal-json", b'"id":0', b'"id":7', "value.id is 7, expected 0"),
}


@pytest.mark.parametrize(
    ("edit", "engine"),
    [
        pytest.param(
            edit,
            engine,
            id=f"{name}-{engine}",
            marks=() if engine == "local" or name == "handle" else pytest.mark.slow,
        )
        for name, edit in EDITS.items()
        for engine in ("local", "spark")
    ],
)
def test_a_member_that_no_event_has_is_compared(tmp_path: Path, edit: Edit, engine: EngineOption) -> None:
    uri = f"file://{tmp_path}?protocol={edit.protocol}"
    assert ticdc_producer.run("seed_t1", sink_uri=uri, overrides=CSV_WITH_HANDLE).ok
    (file,) = tmp_path.rglob("CDC0*")
    first, rest = file.read_bytes().split(b"\r\n", 1)
    file.write_bytes(first.replace(edit.old, edit.new, 1) + b"\r\n" + rest)
    verdict = ticdc_producer.verify(
        sink_uri=uri, scenario="seed_t1", overrides=CSV_WITH_HANDLE, engine=engine
    )
    assert verdict.findings == ()
    assert verdict.comparison is not None
    assert (verdict.comparison.different, verdict.comparison.missing) == (1, 0)
    (line,) = verdict.comparison.diff
    assert line.startswith("≠ test/t1/")
    assert edit.text in line


def test_a_refused_row_ends_the_run_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(EncodeError, match="enum"):
        _run("enum_set_bit_json", "protocol=csv", tmp_path / "out", "on-error=stop")
    assert not (tmp_path / "out").exists()


def test_a_folder_with_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text("{}")
    with pytest.raises(FolderError, match="not empty"):
        _run("seed_t1", "protocol=csv", tmp_path)


def test_options_for_topics_are_rejected(tmp_path: Path) -> None:
    uri = f"file://{tmp_path}?protocol=csv"
    with pytest.raises(ArgumentError, match="`append` cannot be combined with a storage sink"):
        ticdc_producer.run("seed_t1", sink_uri=uri, append=True)
    with pytest.raises(ArgumentError, match="`inject`"):
        ticdc_producer.run("seed_t1", sink_uri=uri.replace("csv", "canal-json"), inject=["replay-suffix"])


def test_a_damaged_schema_file_is_one_finding(tmp_path: Path) -> None:
    uri, script = _written(tmp_path, "protocol=csv")
    (of_database,) = (tmp_path / "out" / "d" / "meta").glob("schema_*")
    of_database.write_text("{")
    findings = ticdc_producer.verify(sink_uri=uri, scenario=script).findings
    assert [(finding.id, finding.count) for finding in findings] == [("STORAGE-LAYOUT", 1)]
