"""``python -m tools.drift``, on a small checkout that is made up here."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tools.drift.__main__ import main
from tools.drift.checkout import ENCODER_FOLDERS, SUBJECTS, Checkout
from tools.drift.record import read_record
from tools.drift.tables import TABLES

SOURCES = {
    "go.mod": "module made/up\n",
    "pkg/config/feed.go": """package config

const (
\t// ProtocolKey names the format.
\tProtocolKey = "protocol"
\tlimit       = 3
)

// ReplicaConfig is the file.
type ReplicaConfig replicaConfig

type replicaConfig struct {
\tQuota *uint64 `toml:"memory-quota" json:"memory-quota,omitempty"`
\tHidden bool `toml:"-" json:"hidden"`
\tFilter *FilterConfig `toml:"filter" json:"filter"`
\tIntegrity *integrity.Config `toml:"integrity" json:"integrity"`
}

// FilterConfig has rules; none of them is a key of its own.
type FilterConfig struct {
\tRules []string `toml:"rules" json:"rules"`
\tEvents []*EventRule `toml:"event-filters" json:"event-filters"`
}

type EventRule struct {
\tShared
\tSQL []string `toml:"ignore-sql,omitempty"`
}

type Shared struct {
\tMatcher []string `toml:"matcher"`
}

func ParseSinkProtocolFromString(text string) (Protocol, error) {
\tswitch text {
\tcase "avro",
\t\t"flat-avro":
\t\treturn ProtocolAvro, nil
\tdefault:
\t\treturn ProtocolUnknown, errNoProtocol
\t}
}
""",
    "pkg/integrity/level.go": """package integrity

type Config struct {
\tLevel *string `toml:"integrity-check-level"`
}
""",
    "pkg/sink/kafka/parameters.go": 'type urlConfig struct {\n\tCount *int32 `form:"partition-num"`\n}\n',
    "pkg/sink/codec/common/rows.go": 'type urlConfig struct {\n\tSize *int `form:"max-batch-size"`\n}\n',
    "pkg/sink/codec/open/writer.go": "func write() {\n\tswitch kind {\n\tcase mysql.TypeVarchar:\n\t}\n}\n",
    "pkg/cloudstorage/settings.go": 'type urlConfig struct {\n\tSize *int `form:"file-size"`\n}\n',
    "pkg/filter/actions.go": """var ddlWhiteListMap = map[timodel.ActionType]bf.EventType{
\t// tables
\ttimodel.ActionCreateTable: bf.CreateTable,
}

func SupportedEventTypes() []bf.EventType {
\treturn []bf.EventType{
\t\tbf.AllDML,
\t}
}
""",
    "pkg/binlog-filter/kinds.go": """const (
\tAllDML EventType = "all dml"
\tCreateTable EventType = "create table" // also from LIKE
)
""",
    "pkg/common/flags.go": """const (
\t// BinaryFlag is for bytes
\tBinaryFlag ColumnFlagType = 1 << ColumnFlagType(iota)
\t// HandleKeyFlag is for the key
\tHandleKeyFlag
)
""",
    "downstreamadapter/sink/columnselector/columns.go": "package columnselector\n",
    "downstreamadapter/sink/eventrouter/partition/rule.go": "package partition\n",
    "downstreamadapter/sink/helper/rules.go": "package helper\n",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name, text in SOURCES.items():
        path = tmp_path / "ticdc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "ticdc"


@pytest.fixture
def recorded(checkout: Path, tmp_path: Path) -> Path:
    path = tmp_path / "encoder_files.json"
    assert main([str(checkout), "--record", "c0ffee"], path) == 0
    return path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_what_a_checkout_has(checkout: Path) -> None:
    source = Checkout(checkout)
    assert {subject: names(source) for subject, names in SUBJECTS.items()} == {
        "configuration keys": [
            "memory-quota", "filter.", "filter.rules", "filter.event-filters.",
            "filter.event-filters.matcher", "filter.event-filters.ignore-sql", "integrity.",
            "integrity.integrity-check-level",
        ],
        "sink URI parameters": ["file-size", "max-batch-size", "partition-num", "protocol"],
        "protocols": ["avro", "flat-avro"],
        "DDL types": ["CREATE_TABLE"],
        "event types of filters": ["all dml", "create table"],
        "column flags": ["BINARY=0x01", "HANDLE_KEY=0x02"],
        "type codes": ["VARCHAR"],
    }  # fmt: skip
    assert source.missing == []


def test_no_alarm_without_news(checkout: Path, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main([str(checkout)], recorded) == 0
    output = capsys.readouterr().out
    assert "configuration keys          8, 0 unknown\n" in output
    assert "encoder files               8, 0 changed\n" in output


NEWS = {
    "filter.made-up": ("pkg/config/feed.go", "\tRules ", '\tNew bool `toml:"made-up"`\n\tRules '),
    "made-up-parameter": ("pkg/sink/kafka/parameters.go", "}\n", '\tNew int `form:"made-up-parameter"`\n}\n'),
    "made-up-protocol": ("pkg/config/feed.go", '"flat-avro"', '"flat-avro", "made-up-protocol"'),
    "MADE_UP": (
        "pkg/filter/actions.go", "\t// tables", "\tActionMadeUp: bf.CreateTable,\n\t// tables"
    ),
    "made up": ("pkg/binlog-filter/kinds.go", '"all dml"', '"made up"'),
    "MADE_UP=0x02": ("pkg/common/flags.go", "\tHandleKeyFlag\n", "\tMadeUpFlag\n\tHandleKeyFlag\n"),
    "MADE_UP_BLOB": ("pkg/sink/codec/open/writer.go", "TypeVarchar", "TypeMadeUpBlob"),
}  # fmt: skip
"""What must be listed, and the change of a file that causes it."""


@pytest.mark.parametrize("name", NEWS)
def test_each_kind_of_news_is_an_alarm(
    checkout: Path, recorded: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, old, new = NEWS[name]
    edit(checkout / path, old, new)
    assert main([str(checkout)], recorded) == 1
    assert f"  {name}\n" in capsys.readouterr().out


def test_changed_new_and_removed_encoder_files(
    checkout: Path, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(checkout / "pkg/sink/codec/open/writer.go", "write", "write2")
    (checkout / "pkg/sink/codec/open/writer_test.go").write_text("package open\n", "utf-8")
    (checkout / "pkg/sink/codec/open/reader.go").write_text("package open\n", "utf-8")
    (checkout / "pkg/sink/codec/common/rows.go").rename(checkout / "pkg/sink/codec/common/size.go")
    assert main([str(checkout)], recorded) == 1
    assert capsys.readouterr().out.partition("encoder files ")[2].splitlines()[1:] == [
        "  gone pkg/sink/codec/common/rows.go",
        "  new pkg/sink/codec/common/size.go",
        "  new pkg/sink/codec/open/reader.go",
        "  changed pkg/sink/codec/open/writer.go",
        "what changed in a file: git diff c0ffee HEAD -- PATH",
    ]


@pytest.mark.parametrize(
    ("path", "missing"),
    [
        ("pkg/config/feed.go", "pkg/config has no type ReplicaConfig"),
        ("pkg/config/feed.go", "pkg/config has no func ParseSinkProtocolFromString"),
        ("pkg/sink/kafka/parameters.go", "pkg/sink/kafka has no tag form"),
        ("pkg/filter/actions.go", "pkg/filter has no var ddlWhiteListMap"),
        ("pkg/binlog-filter/kinds.go", "pkg/binlog-filter has no constant of type EventType"),
        ("pkg/common/flags.go", "pkg/common has no constant of type ColumnFlagType"),
        ("downstreamadapter/sink/helper/rules.go", "downstreamadapter/sink/helper has no Go file"),
    ],
)
def test_what_is_not_where_it_was_is_an_alarm(
    checkout: Path, recorded: Path, path: str, missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / path).unlink()
    assert main([str(checkout)], recorded) == 1
    assert f"missing: {missing};" in capsys.readouterr().out


def test_a_moved_file_of_the_same_folder_is_still_read(checkout: Path, recorded: Path) -> None:
    (checkout / "pkg/config/feed.go").rename(checkout / "pkg/config/changefeed.go")
    assert main([str(checkout)], recorded) == 0


def test_nothing_is_recorded_of_a_checkout_that_cannot_be_read(checkout: Path, recorded: Path) -> None:
    before = recorded.read_text("utf-8")
    (checkout / "downstreamadapter/sink/helper/rules.go").unlink()
    assert main([str(checkout), "--record", "decaf"], recorded) == 1
    assert recorded.read_text("utf-8") == before


def test_a_folder_without_files_is_no_checkout(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main([str(tmp_path)])
    assert stop.value.code == 2


def test_hashes_are_those_of_git(checkout: Path, recorded: Path) -> None:
    path = "pkg/sink/codec/open/writer.go"
    by_git = subprocess.run(
        ["git", "hash-object", path], cwd=checkout, capture_output=True, text=True, check=True
    )
    assert json.loads(recorded.read_text("utf-8"))["files"][path] == by_git.stdout.strip()


def test_the_record_of_this_project_has_files_of_every_folder() -> None:
    record = read_record()
    assert len(record.commit) == 40
    assert all(any(path.startswith(f"{part}/") for path in record.files) for part in ENCODER_FOLDERS)


def test_both_sides_have_the_same_subjects() -> None:
    assert SUBJECTS.keys() == TABLES.keys()
