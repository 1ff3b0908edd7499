"""Golden files of real TiCDC, recorded in one protocol, give the golden bytes of another.

The page docs/real-topics.md has the number of files of each pair whose messages are all equal, and the
reasons of the others. ``REFUSED`` and ``DIFFERENT`` have the reasons by file; a file with another difference
fails.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.golden_events import GOLDEN
from tests.recording.transcoding import (
    EXACT,
    VARIANTS,
    WRITTEN,
    difference,
    golden_files,
    golden_messages,
    transcoded,
)

PAGE = Path(__file__).parents[2] / "docs/real-topics.md"
CELLS = [(source, target) for source in EXACT for target in EXACT]
OTHERS = [source for source in (*VARIANTS, *WRITTEN) if source not in EXACT]
LOSSES = {
    "debezium": {"decimals", "enum_set_bit_json", "generated_defaults", "nokey_force", "temporal"},
    "maxwell": {"binaries", "canal_types_params", "generated_defaults", "strings", "vector"},  # rejected rows
    "csv files": {"enum_set_bit_json"},  # the same
}
"""By source, the files with values or rows that its messages do not have."""
REFUSED_OF = {
    "csv files": {"generated_defaults": "CSV-FIELDS", "ddl_many": "CSV-FIELDS"},
    "avro": {
        "enum_set_bit_json": "a row that does not exist",  # its INSERT was rejected
        "nokey_force": "force-replicate must be off",
    },
}
REFUSED = {
    "fuzz/fuzz12": "SQL does not parse",  # TiDB prints a backslash at the end of a member of ENUM unescaped
    "visible/ddl_many": "Table 'ddl_db.nopk' doesn't exist",  # TiCDC sent its ALTER, and not its CREATE
    "craft_cases/original": "OPEN-COLUMN|the type of column 'null'",  # values and types that no TiDB sends
}
"""By file, or the beginning of its name, a pattern of the error of the recording."""
DIFFERENT = {
    ("*", "craft_cases/current_case0"): "events",  # no DDL: definitions follow from the rows
    ("*", "craft_cases/current_case1"): "events",
    # Bytes that are not UTF-8, which only Craft carries; others send U+FFFD, here as a character
    ("*", "visible/strings"): "text",
    ("craft.floatfix", "visible/strings"): "events",
    ("simple.json", "visible/keys"): "events",  # table ids: a CREATE TABLE was not sent
    ("simple.json", "fuzz/fuzz01"): "text",  # backslashes in members of ENUM and SET
    ("simple.json", "fuzz/fuzz15"): "text",
    ("simple.json", "fuzz/fuzz16"): "events",
    ("simple.json", "fuzz/fuzz19"): "text",
    ("simple.json", "fuzz/fuzz02"): "text",  # a DEFAULT in the time zone of the DDL's session
    ("simple.json", "world/min/m1"): "text",  # the length of YEAR, which TiCDC's files have otherwise
    ("simple.json", "world/min/m2"): "text",
}
"""By variant and file what differs. In addition the ids of rows differ if the source does not carry them, and
the order of a transaction that follows from them."""
_OF_ROW_IDS = ("row ids", "order")
FAST = ("fuzz/fuzz00", "visible/keys")


def check(folder: Path, file: str, source: str, target: str) -> bool:
    """Check the difference of a file; return whether there is none."""
    ours, theirs = transcoded(folder, file, source, target), golden_messages(file, target)
    refused = next((error for name, error in REFUSED.items() if file.startswith(name)), None)
    if isinstance(ours, str):
        assert refused is not None, (file, ours)
        assert re.search(refused, ours)
        return False
    assert refused is None, file
    actual = difference(source, target, ours, theirs)
    expected = DIFFERENT.get((target, file), DIFFERENT.get(("*", file), ""))
    if file == "visible/strings" and source == "craft.floatfix":
        expected = ""  # all bytes are known
    if source != "open" and not expected:
        assert actual in ("", *_OF_ROW_IDS), file
    else:
        assert actual == expected, file
    return not actual


@pytest.mark.parametrize(
    ("source", "target", "file"),
    [
        (source, target, file)
        for source, target in CELLS
        for file in FAST
        if all((GOLDEN / f"{file}.{variant}.jsonl").is_file() for variant in (source, target))
    ],
)
def test_some_messages_of_ticdc_in_another_protocol(
    tmp_path: Path, source: str, target: str, file: str
) -> None:
    check(tmp_path, file, source, target)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), CELLS)
def test_all_messages_of_ticdc_in_another_protocol(
    tmp_path_factory: pytest.TempPathFactory, source: str, target: str
) -> None:
    files = golden_files(source, target)
    equal = sum(check(tmp_path_factory.mktemp("cell"), file, source, target) for file in files)
    [row] = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| `{source}` ")]
    cells = row.strip("| ").split(" | ")
    assert cells[1 + EXACT.index(target)] == f"{equal} of {len(files)}"


def check_other(folder: Path, file: str, source: str) -> str:
    """Check the difference of a file that is recorded from a source that is not exact, and return it."""
    name = file.removeprefix("visible/")
    ours, theirs = transcoded(folder, file, source, "open"), golden_messages(file, "open")
    refused = REFUSED_OF.get(source, {}).get(name) or REFUSED.get(file)
    if isinstance(ours, str):
        assert refused is not None, ours
        assert re.search(refused, ours)
        return "refused"
    actual = difference(source, "open", ours, theirs)
    allowed = ("events",) if name in LOSSES.get(source, ()) else ("", "times", *_OF_ROW_IDS)
    assert actual in allowed, file
    return actual


@pytest.mark.parametrize("source", OTHERS)
def test_a_file_of_another_source_has_its_events(tmp_path: Path, source: str) -> None:
    check_other(tmp_path, "visible/ints", source)


@pytest.mark.slow
@pytest.mark.parametrize("source", OTHERS)
def test_all_files_of_another_source_have_their_events(
    tmp_path_factory: pytest.TempPathFactory, source: str
) -> None:
    files = golden_files(source, "open")
    differences = [check_other(tmp_path_factory.mktemp("cell"), file, source) for file in files]
    equal, with_times = (
        differences.count(""),
        sum(differences.count(name) for name in ("", "times", *_OF_ROW_IDS)),
    )
    [row] = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| {source} |")]
    cells = row.strip("| ").split(" | ")
    assert cells[1:3] == [f"{equal} of {len(files)}", f"{with_times} of {len(files)}"]
