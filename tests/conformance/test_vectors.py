"""The corpus as vectors: deterministic, valid, complete, and right for our own decoders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from tests.conformance.own_decoder import decoded, refuses
from tests.conformance.seed_topic import CASE, ROWS, TABLE, own_cache
from ticdc_producer.cli import main
from ticdc_producer.conformance.case_spec import PROTOCOLS, decode_cases
from ticdc_producer.conformance.wire import LARGE, Request, event_of

GLOBS = (
    "*.rows.insert",
    "*.rows.unique-handle-key",
    "*.damaged.garbage",
    "*.apply.seed_t1",
    "*.storage.changes",
)
FILTERS = [word for glob in GLOBS for word in ("--filter", glob)]
ONE_PROFILE = {"craft", "maxwell", "canal", "csv"}
Vector = dict[str, Any]


def written(folder: Path, *filters: str) -> Path:
    assert main(["golden", "--format", "vectors", "--out", str(folder), *filters]) == 0
    return folder


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("vectors")
    with own_cache(folder / "cache"):
        yield written(folder / "few", *FILTERS)


@pytest.fixture(scope="module")
def all_vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("vectors") / "all")


def manifest(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return content


def vectors(folder: Path) -> list[Vector]:
    files = (folder / f"{protocol}.jsonl" for protocol in manifest(folder)["protocols"])
    return [json.loads(line) for file in files for line in file.read_text("utf-8").split("\n")[:-1]]


def request(vector: Vector) -> Request:
    *described, message = vector["messages"]
    return Request(
        case=vector["id"],
        level="decode",
        protocol=vector["protocol"],
        options=vector["options"],
        key=message["key"],
        value=message["value"],
        described=[earlier["value"] for earlier in described] or msgspec.UNSET,
        schemas=vector.get("schemas") or msgspec.UNSET,
    )


def check(folder: Path) -> None:
    """What holds for every tree."""
    content, lines = manifest(folder), vectors(folder)
    schema = json.loads((folder / "vectors.schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    step = max(1, len(lines) // 200)
    assert [error.message for line in lines[::step] for error in validator.iter_errors(line)] == []
    assert len({line["id"] for line in lines}) == len(lines)
    counts = Counter(line["protocol"] for line in lines)
    messages = Counter(line["protocol"] for line in lines for _ in line.get("messages", ()))
    assert content["protocols"] == {
        name: {"vectors": counts[name], "messages": messages[name]} for name in counts
    }
    digests = {
        path.name: sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.name != "manifest.json"
    }
    assert content["files"] == digests
    assert set(counts) == {*PROTOCOLS, "csv"}
    profiles = {(line["protocol"], profile) for line in lines for profile in line["profiles"]}
    assert profiles == {
        (name, profile) for name in counts for profile in ("classic", "new")
        if profile == "classic" or name not in ONE_PROFILE
    }  # fmt: skip
    for line in lines:
        positions = {(each["topic"], each["partition"], each["offset"]) for each in line.get("messages", ())}
        events = line.get("events", ())
        assert {(each["topic"], each["partition"], each["offset"]) for each in events} <= positions
        assert not (events and line.get("damaged"))


def test_a_tree_is_valid_and_has_every_protocol_and_profile(few: Path) -> None:
    check(few)


def test_the_same_vectors_are_the_same_bytes(few: Path, tmp_path: Path) -> None:
    """In another process, which orders sets in another way, and without the cache."""
    command = [
        sys.executable,
        "-m",
        "ticdc_producer",
        "golden",
        "--format",
        "vectors",
        "--out",
        tmp_path / "b",
    ]
    variables = {**os.environ, "PYTHONHASHSEED": "7", "TICDC_PRODUCER_CACHE": str(tmp_path / "cache")}
    subprocess.run([*command, *FILTERS], check=True, capture_output=True, env=variables)
    assert {path.name: path.read_bytes() for path in few.iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()
    }


def test_a_vector_has_what_a_consumer_reads(few: Path) -> None:
    by_id = {line["id"]: line for line in vectors(few)}
    assert by_id["required.canal-json.rows.insert"]["profiles"] == ["classic", "new"]
    (event,) = by_id["required.open-protocol.rows.insert"]["events"]
    assert (event["commit_ts"], event["after"]["owner"]) == ("429918008428724226", "bob")
    assert by_id[CASE]["tables"][TABLE]["rows"] == ROWS
    assert by_id[CASE]["tables"][TABLE]["key"] == ["id"]
    assert {each["kind"] for each in by_id[CASE]["events"]} == {"row", "ddl", "resolved"}
    files = by_id["required.csv.storage.changes"]["files"]
    assert any(b64decode(content).startswith(b'"') for content in files.values())


def test_the_profiles_are_two_vectors_if_their_messages_differ(few: Path) -> None:
    by_id = {line["id"]: line for line in vectors(few)}
    case = "required.open-protocol.rows.insert"
    classic, new = by_id[case], by_id[f"{case}@new"]
    assert (classic["profiles"], new["profiles"]) == (["classic"], ["new"])
    assert classic["messages"] != new["messages"]
    assert new["options"]["profile"] == "new"
    rejected = "required.avro.rows.unique-handle-key"
    assert by_id[rejected]["profiles"] == ["classic"]
    assert f"{rejected}@new" not in by_id


def decodes(line: Vector) -> bool:
    of_line = request(line)
    if line.get("damaged"):
        return refuses(of_line)
    events = [
        {name: int(each[name]) if name in LARGE else each[name] for name in each}
        for each in line.get("events", ())
    ]
    return tuple(decoded(of_line)) == tuple(map(event_of, events))


def test_our_decoders_read_the_events(few: Path) -> None:
    lines = [line for line in vectors(few) if line["level"] == "decode"]
    assert [line["id"] for line in lines if not decodes(line)] == []


@pytest.mark.slow
def test_all_vectors(all_vectors: Path) -> None:
    check(all_vectors)
    lines = vectors(all_vectors)
    assert sum(len(line.get("messages", ())) for line in lines) >= 5_000
    assert sum(path.stat().st_size for path in all_vectors.iterdir()) <= 20 * 1024 * 1024
    of_cases = [line for line in lines if line["level"] == "decode"]
    assert {line["id"].removesuffix("@new") for line in of_cases} == {spec.id for spec in decode_cases()}
    assert [line["id"] for line in of_cases if not decodes(line)] == []
    in_new = {line["id"].removesuffix("@new") for line in lines if "new" in line["profiles"]}
    assert [
        line["id"]
        for line in lines
        if line["level"] != "storage"
        and line["protocol"] not in ONE_PROFILE
        and line["id"].removesuffix("@new") not in in_new
    ] == ["required.avro.rows.unique-handle-key"]
