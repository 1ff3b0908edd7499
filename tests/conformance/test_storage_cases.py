"""The storage level: folders of the storage sink, and the rows that a reader of them must have."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.own_files import FileReader, InNumberOrder, OneVersion, QuotedNull, WithoutPartitions
from tests.conformance.seed_topic import own_cache
from ticdc_producer.cli import main
from ticdc_producer.conformance.compare import table_differences
from ticdc_producer.conformance.storage_case import StorageCase, build_storage_case, storage_case_specs

SPECS = {spec.id: spec for spec in storage_case_specs()}
EXAMPLE = Path(__file__).parents[2] / "examples" / "testee_python_storage.py"
_ID = re.compile(r"(required|recommended)\.(csv|canal-json)\.storage\.[a-z]+(-[a-z]+)*")


@pytest.fixture(scope="module", autouse=True)
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with own_cache(tmp_path_factory.mktemp("folders")):
        yield


def build(name: str) -> StorageCase:
    return build_storage_case(SPECS[name], lambda _: None)


def fails(reader: FileReader, name: str) -> bool:
    case = build(name)
    return table_differences(case.expected, reader.answer_files(case.request)) != []


def test_ids_are_unique_and_well_formed() -> None:
    assert len(SPECS) == len(storage_case_specs())
    assert [name for name in SPECS if _ID.fullmatch(name) is None] == []
    assert {spec.protocol for spec in SPECS.values()} == {"csv", "canal-json"}


@pytest.mark.parametrize("name", [name for name in SPECS if name.startswith("required.")])
def test_a_right_reader_has_the_rows(name: str) -> None:
    assert build(name).request.tables
    assert not fails(FileReader(), name)


@pytest.mark.parametrize("protocol", ["csv", "canal-json"])
@pytest.mark.parametrize(
    ("wrong", "case"),
    [
        (InNumberOrder, "several-files"),
        (OneVersion, "new-version"),
        (QuotedNull, "texts"),
        (WithoutPartitions, "partitions"),
    ],
)
def test_a_folder_reveals_the_bug_that_it_is_for(wrong: type[FileReader], case: str, protocol: str) -> None:
    assert fails(wrong(), f"required.{protocol}.storage.{case}")
    assert not fails(wrong(), f"required.{protocol}.storage.changes")


def test_a_folder_has_the_files_for_which_it_is_named() -> None:
    several = Path(build("required.csv.storage.several-files").request.folder)
    dates = {path.parent for path in several.rglob("CDC0*.csv")}
    assert len(dates) > 1
    assert all(len([*date.glob("CDC0*.csv")]) > 1 for date in dates)
    parts = Path(build("required.canal-json.storage.partitions").request.folder)
    assert len({path.parent.parent for path in parts.rglob("CDC0*.json")}) == 2


def test_the_example_passes_and_a_failure_is_saved(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = ["conformance", "--level", "storage", "--json", "--testee"]
    assert main([*command, shlex.join([sys.executable, str(EXAMPLE)])]) == 0
    outcome = json.loads(capsys.readouterr().out)
    assert outcome["counts"]["passed"] == len(SPECS)
    silent = tmp_path / "silent.py"
    silent.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    request = json.loads(line)\n"
        "    answer = {'hello': 1} if 'hello' in request else {'case': request['case'], 'tables': {}}\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    case = "required.csv.storage.changes"
    options = ["--filter", case, "--save", str(tmp_path / "saved")]
    assert main([*command, shlex.join([sys.executable, str(silent)]), *options]) == 1
    saved = tmp_path / "saved" / case
    assert [*(saved / "files").rglob("CDC0*.csv")]
    assert json.loads((saved / "outcome.json").read_text())["reasons"] == [
        "table test.x is missing, with 2 rows"
    ]
    assert (saved / "state" / "test.x.jsonl").read_text().count("\n") == 2
