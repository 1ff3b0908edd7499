"""A golden folder as records; nothing in it is believed before it is checked."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator
from hashlib import file_digest
from pathlib import Path
from typing import Any

from producer.errors import FolderError
from producer.model.record import Record

_LONGEST_LINE = 256 << 20
"""A message of 10 MiB is 14 MiB in Base64; a line beyond this is no message."""


def manifest(folder: Path) -> dict[str, Any]:
    """The manifest, after every file it lists was found with its sha256.

    :raises FolderError: for a folder, manifest or file that is missing or changed.
    """
    if not folder.is_dir():
        raise FolderError("there is no such folder", path=str(folder))
    place = folder / "manifest.json"
    content = _json(place)
    for name, expected in content.get("files", {}).items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise FolderError(f"lists a file outside of the folder: {name}", path=str(place))
        if not path.is_file():
            raise FolderError("the manifest lists this file, and it is missing", path=str(path))
        with path.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != expected:
                hint = "it was cut short or changed after it was written"
                raise FolderError("the file is not what the manifest lists", path=str(path), hint=hint)
    return content


def claims(folder: Path) -> str:
    """Where the claim-check objects of a golden folder are; empty if it has none."""
    place = folder / "claims"
    return str(place.absolute()) if place.is_dir() else ""


def schemas(folder: Path) -> dict[int, str]:
    """What messages of Avro name by number; none in folders of other protocols.

    :raises FolderError: for a line that is no schema.
    """
    place = folder / "schemas.jsonl"
    if not place.is_file():
        return {}
    found = {}
    with place.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                told = json.loads(line)
                found[int(told["id"])] = str(told["schema"])
            except (ValueError, KeyError, TypeError, RecursionError):
                raise FolderError("this line is no schema", path=f"{place}:{number}") from None
    return found


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise FolderError("the file is missing", path=str(path), hint="is this a golden folder?") from None
    except (ValueError, RecursionError):
        raise FolderError("the file is not JSON", path=str(path)) from None
    if not isinstance(content, dict):
        raise FolderError("a JSON object was expected", path=str(path))
    return content


def records(path: Path) -> Iterator[Record]:
    """The messages of one ``messages.jsonl``, in its order.

    :raises FolderError: with the line's number, for a line that is no message.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise FolderError(f"cannot be read: {error.strerror}", path=str(path)) from None
    with file:
        number = 0
        while line := file.readline(_LONGEST_LINE):
            number += 1
            try:
                yield _record(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                hint = "see the file format in the documentation"
                raise FolderError("this line is no message", path=f"{path}:{number}", hint=hint) from None


def _record(line: Any) -> Record:
    return Record(
        topic=str(line["topic"]),
        partition=int(line["partition"]),
        offset=int(line["offset"]),
        key=_bytes(line["key"]),
        value=_bytes(line["value"]),
        timestamp=int(line.get("timestamp") or 0),
        headers=tuple((str(name), _bytes(value) or b"") for name, value in line.get("headers") or ()),
        type=str(line.get("type") or ""),
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text, validate=True)
