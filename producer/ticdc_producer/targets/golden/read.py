"""A golden folder as records; nothing in it is believed before it is checked."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ChangefeedError, FolderError
from ticdc_producer.model.record import Record

_DAMAGED = "the folder was changed after it was written"
_LINE = 'as in a golden folder: {"topic": "t", "partition": 0, "offset": 0, "key": BASE64, "value": BASE64}'
_INT, _LONG = (1 << 31) - 1, (1 << 63) - 1
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
    files = content.get("files")
    if not isinstance(files, dict):
        raise FolderError("its files are no mapping of names to sha256", path=str(place), hint=_DAMAGED)
    for name, expected in files.items():
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


def changefeed(folder: Path, written: Mapping[str, Any]) -> Changefeed:
    """What the messages of a golden folder were made with.

    :param written: its manifest.
    :raises FolderError: if the manifest does not tell that.
    """
    try:
        return Changefeed.from_manifest(written.get("changefeed", {}))
    except ChangefeedError as error:
        what = f"its changefeed cannot be read: {error.what}"
        raise FolderError(what, path=str(folder / "manifest.json"), hint=_DAMAGED) from None


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
                yield _record(_object(line))
            except _NoMessageError as error:
                what = f"this line is no message: {error}"
                raise FolderError(what, path=f"{path}:{number}", hint=_LINE) from None


class _NoMessageError(ValueError):
    """Says what of a line is not as in ``messages.jsonl``."""


def _object(line: bytes) -> dict[str, Any]:
    try:
        content = json.loads(line)
    except (ValueError, RecursionError):
        raise _NoMessageError("it is not JSON") from None
    if not isinstance(content, dict):
        raise _NoMessageError("it is no JSON object")
    return content


def _record(line: dict[str, Any]) -> Record:
    missing = [name for name in ("topic", "partition", "offset", "key", "value") if name not in line]
    if missing:
        raise _NoMessageError(f"it has no {missing[0]!r}")
    return Record(
        topic=_text("topic", line["topic"]),
        partition=_number("partition", line["partition"], most=_INT),
        offset=_number("offset", line["offset"], most=_LONG),
        key=_bytes("key", line["key"]),
        value=_bytes("value", line["value"]),
        timestamp=_number("timestamp", line.get("timestamp") or 0, most=_LONG, least=-1),
        headers=_headers(line.get("headers") or ()),
        type=str(line.get("type") or ""),
    )


def _text(name: str, value: Any) -> str:
    try:
        if isinstance(value, str) and value.encode():  # JSON may spell halves of characters
            return value
    except UnicodeEncodeError:
        pass
    raise _NoMessageError(f"{name!r} is no text")


def _number(name: str, value: Any, *, most: int, least: int = 0) -> int:
    if type(value) is not int or not least <= value <= most:
        raise _NoMessageError(f"{name!r} is no whole number from {least} to {most}")
    return value


def _bytes(name: str, text: Any) -> bytes | None:
    try:
        return None if text is None else b64decode(text, validate=True)
    except (ValueError, TypeError):
        raise _NoMessageError(f"{name!r} is neither null nor Base64") from None


def _headers(pairs: Any) -> tuple[tuple[str, bytes], ...]:
    try:
        named = [(name, value) for name, value in pairs]
    except (ValueError, TypeError):
        raise _NoMessageError("'headers' is no list of pairs of a name and Base64") from None
    return tuple((_text("headers", name), _bytes("headers", value) or b"") for name, value in named)
