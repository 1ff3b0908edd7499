"""Reads a golden folder, and validates everything that it reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import file_digest
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, BinaryIO, TypeAlias, TypeVar, cast
from uuid import UUID

import msgspec

from ticdc_producer.config import Changefeed
from ticdc_producer.errors import ChangefeedError, FolderError
from ticdc_producer.installation import own_version
from ticdc_producer.model.event import MAX_OFFSET, Record

_T = TypeVar("_T")
_DAMAGED = "the folder was changed after it was written"
LINE_HINT = (
    'as in a golden folder: {"topic": "t", "partition": 0, "offset": 0, "key": BASE64, "value": BASE64}'
)
MAX_LINE_BYTES = 256 << 20
"""A message of 10 MiB has 14 MiB in Base64; longer lines are rejected."""
_SOME_LINES, _SOME_BYTES = 4096, 64 << 20

Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Int: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=(1 << 31) - 1)]
Long: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
Offset: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_OFFSET)]
NOT_SUCH_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The exceptions of msgspec for a line of another form."""


class MessageLine(msgspec.Struct, gc=False):
    """A line of ``messages.jsonl``; keys and values are Base64."""

    topic: Text
    partition: Int
    offset: Offset
    key: bytes | None
    value: bytes | None
    timestamp: Annotated[int, msgspec.Meta(ge=-1, le=(1 << 63) - 1)] | None = None
    headers: list[tuple[Text, bytes]] | None = None
    type: str | None = None


MESSAGE_LINE: msgspec.json.Decoder[MessageLine] = msgspec.json.Decoder(MessageLine)
"""Parses a line of ``messages.jsonl``."""


def manifest(folder: Path, *, under: str = "") -> dict[str, object]:
    """Read the manifest, and verify the sha256 of every file that it lists.

    :param under: verify only the files of this folder in it.
    :raises FolderError: if the folder, the manifest or a file is missing or changed, or if a later version of
        this tool wrote them.
    """
    if not folder.is_dir():
        raise FolderError("there is no such folder", path=str(folder))
    path_of_manifest = folder / "manifest.json"
    content = _json(path_of_manifest)
    files = content.get("files")
    if not isinstance(files, dict):
        what = "its files are not a mapping of names to sha256"
        raise FolderError(what, path=str(path_of_manifest), hint=_DAMAGED)
    inside = folder.resolve()
    for name, expected in files.items():
        path = folder / name
        if not path.resolve().is_relative_to(inside):
            raise FolderError(f"lists a file outside of the folder: {name}", path=str(path_of_manifest))
        if under and not PurePosixPath(name).is_relative_to(under):
            continue
        if not path.is_file():
            raise FolderError("the manifest lists this file, and it is missing", path=str(path))
        with path.open("rb") as file:
            if file_digest(file, "sha256").hexdigest() != expected:
                hint = "it was cut short or changed after it was written"
                raise FolderError("the file differs from what the manifest lists", path=str(path), hint=hint)
    _check_version(content, path_of_manifest)
    return content


def _check_version(written: Mapping[str, Any], path: Path) -> None:
    """Check the version of a folder; folders of earlier versions are read.

    :raises FolderError: if a later version wrote the folder.
    """
    own = own_version()
    if _numbers(str(written.get("tool", ""))) > _numbers(own):
        what = f"it was written by {written['tool']}, and this is {own}"
        raise FolderError(what, path=str(path), hint="update ticdc-producer, or write the folder again")


def _numbers(text: str) -> list[int]:
    """Return the numbers of a version; none if the text has no version."""
    match = re.search(r"\d+(?:\.\d+)+", text)
    return [int(number) for number in match[0].split(".")] if match else []


def changefeed(folder: Path, written: Mapping[str, object]) -> Changefeed:
    """Return the changefeed of the messages of a golden folder.

    :param written: the manifest.
    :raises FolderError: if the manifest has no valid changefeed.
    """
    try:
        content: Any = written.get("changefeed", {})
        return Changefeed.from_manifest(content)
    except ChangefeedError as error:
        what = f"its changefeed cannot be read: {error.what}"
        own, tool = own_version(), str(written.get("tool", ""))
        other = _numbers(tool) not in ([], _numbers(own))
        hint = f"it was written by {tool}, and this is {own}: write the folder again" if other else _DAMAGED
        raise FolderError(what, path=str(folder / "manifest.json"), hint=hint) from None


def claims(folder: Path) -> str:
    """Return the path of the claim-check objects of a golden folder; empty if it has none."""
    path = folder / "claims"
    return str(path.absolute()) if path.is_dir() else ""


def schemas(folder: Path) -> dict[int, str]:
    """Return the Avro schemas of a golden folder by schema id; empty for other protocols.

    :raises FolderError: for a line that is not a schema.
    """
    path = folder / "schemas.jsonl"
    if not path.is_file():
        return {}
    by_id = {}
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
                by_id[_schema_id(entry["id"])] = str(entry["schema"])
            except (ValueError, KeyError, TypeError, RecursionError):
                raise FolderError("this line is not a schema", path=f"{path}:{number}") from None
    return by_id


def _schema_id(value: object) -> int:
    """Return an id of Confluent's registry, or the number of a UUID of AWS Glue."""
    return UUID(value).int if isinstance(value, str) else int(cast("int", value))


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise FolderError("the file is missing", path=str(path), hint="is this a golden folder?") from None
    except OSError as error:
        raise FolderError(f"the file cannot be read: {error.strerror}", path=str(path)) from None
    except (ValueError, RecursionError):
        raise FolderError("the file is not JSON", path=str(path)) from None
    if not isinstance(content, dict):
        raise FolderError("a JSON object was expected", path=str(path))
    return content


def message_lines(path: Path) -> Iterator[MessageLine]:
    """Read the lines of a ``messages.jsonl``, in order.

    :raises FolderError: for a line that is not a message, with its number.
    """
    return chain.from_iterable(
        parsed_lines(path, MESSAGE_LINE.decode, "a message", LINE_HINT, *NOT_SUCH_JSON)
    )


def records(path: Path) -> Iterator[Record]:
    """Read the messages of a ``messages.jsonl``, in the order of the file.

    :raises FolderError: for a line that is not a message, with its number.
    """
    return map(record_of_line, message_lines(path))


def parsed_lines(
    path: Path,
    parse: Callable[[bytes], _T],
    what: str,
    hint: str,
    *errors: type[Exception],
    about: Sequence[str] = (),
) -> Iterator[list[_T]]:
    """Yield the parsed lines of a file, in lists of bounded size.

    :param what: the expected content of a line, for errors.
    :param errors: the exceptions that ``parse`` raises for a line of another form.
    :param about: the names that the hint has in backticks.
    :raises FolderError: for the first such line, with its number, and for a file that cannot be read.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise FolderError(f"cannot be read: {error.strerror}", path=str(path)) from None
    with file:
        number = 0
        while lines := _some_lines(file):
            parsed: list[_T] = []
            try:
                for line in lines:
                    parsed.append(parse(line))
            except errors as error:
                problem = f"this line is not {what}: {error}"
                where = f"{path}:{number + len(parsed) + 1}"
                raise FolderError(problem, path=where, hint=hint).about(*about) from None
            number += len(lines)
            yield parsed


def _some_lines(file: BinaryIO) -> list[bytes]:
    """Return the next lines of a file, none at its end."""
    lines: list[bytes] = []
    size = 0
    while len(lines) < _SOME_LINES and size < _SOME_BYTES and (line := file.readline(MAX_LINE_BYTES)):
        lines.append(line)
        size += len(line)
    return lines


def record_of_line(line: MessageLine) -> Record:
    """Return the record of a line of ``messages.jsonl``."""
    return Record(
        topic=line.topic,
        partition=line.partition,
        offset=line.offset,
        key=line.key,
        value=line.value,
        timestamp=line.timestamp or 0,
        headers=tuple(line.headers or ()),
        type=line.type or "",
    )
