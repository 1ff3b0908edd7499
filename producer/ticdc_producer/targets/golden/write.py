"""The golden folder: messages, the expected decode, the expected state, and a manifest of it all.

Written beside its place as ``DIR.partial`` and renamed at the end, so that half a folder is never taken
for a whole one. Format: DESIGN §5.
"""

from __future__ import annotations

import json
import re
import shutil
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ticdc_producer.errors import FolderError
from ticdc_producer.model.event_line import event_line
from ticdc_producer.model.json_value import json_line, to_json
from ticdc_producer.model.table import TableInfo

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

MOST_LINES = 100_000
"""Up to this many messages a folder holds JSON lines; above it, parquet with the same columns."""

MANIFEST = "manifest.json"
MESSAGE_FILES = "messages.parquet"
SCHEMAS = "schemas.jsonl"
CLAIMS = "claims"
"""Folder of the claim-check objects, wherever the changefeed would store them: so nothing is missing."""
_LONGEST_NAME, _KEPT = 240, 200


@contextmanager
def golden_folder(place: Path) -> Iterator[Path]:
    """A folder to fill, which takes its name when all went well and is gone when not.

    :raises FolderError: if something stands at that place already.
    """
    place = place.absolute()  # the JVM stays in the directory where it was started
    if place.exists():
        hint = "name a new folder, or remove this one"
        raise FolderError("the folder exists already", path=str(place), hint=hint)
    partial = place.with_name(place.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir(parents=True)
    except OSError as error:
        raise FolderError(f"cannot be created: {error.strerror}", path=str(partial)) from None
    try:
        yield partial
        partial.rename(place)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def write_messages(folder: Path, messages: DataFrame, count: int) -> None:
    """``messages.jsonl``, or ``messages.parquet`` where there are many.

    :param messages: shape ``MESSAGES``.
    :param count: how many there are.
    """
    if count > MOST_LINES:
        write_message_files(folder, messages)
        return
    ordered = messages.orderBy("topic", "partition", "offset")
    write_lines(folder / "messages.jsonl", map(_message_line, ordered.toLocalIterator()))


def write_message_files(folder: Path, messages: DataFrame) -> None:
    """``messages.parquet``: a file for each Kafka partition, as the tasks have them, in order."""
    messages.write.option("compression", "zstd").parquet(str(folder / MESSAGE_FILES))


def _message_line(row: Row) -> dict[str, Any]:
    return {
        "topic": row["topic"],
        "partition": row["partition"],
        "offset": row["offset"],
        "type": row["type"],
        "key": _base64(row["key"]),
        "value": _base64(row["value"]),
        "timestamp": row["timestamp"],
        "headers": [[header["key"], _base64(header["value"])] for header in row["headers"] or ()],
    }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode("ascii")


def write_events(folder: Path, events: DataFrame, count: int) -> None:
    """``events.jsonl``, the expected decode; parquet under the same rule as the messages.

    :param events: shape ``DECODED``.
    """
    ordered = events.orderBy("topic", "partition", "offset", "index")
    if count > MOST_LINES:
        ordered.write.option("compression", "zstd").parquet(str(folder / "events.parquet"))
        return
    write_lines(folder / "events.jsonl", (event_line(row.asDict()) for row in ordered.toLocalIterator()))


def write_schemas(folder: Path, schemas: Mapping[int, str]) -> None:
    """``schemas.jsonl``: what messages of Avro name by number.

    :param schemas: by the id that messages have.
    """
    lines = ({"id": number, "schema": schema} for number, schema in sorted(schemas.items()))
    write_lines(folder / SCHEMAS, lines)


def write_faults(folder: Path, places: DataFrame) -> None:
    """``faults.jsonl``: a line per place where something goes wrong on purpose.

    :param places: in order; columns become keys.
    """
    write_lines(folder / "faults.jsonl", (row.asDict() for row in places.toLocalIterator()))


def write_claims(folder: Path, claims: DataFrame) -> None:
    """``claims/``: each claim-check object in a file of its own.

    :param claims: as ``sink.claims`` gives them.
    """
    place = folder / CLAIMS
    place.mkdir()
    for claim in claims.toLocalIterator():
        (place / claim["name"]).write_bytes(claim["content"])


def write_state(place: Path, table: TableInfo, rows: Iterable[tuple[bytes | None, ...]]) -> Path:
    """``SCHEMA.TABLE.jsonl``: the table's rows, one object of column and value per line.

    :return: the file.
    """
    names = [column.name for column in table.sent_columns]
    lines = (dict(zip(names, map(to_json, row), strict=True)) for row in rows)
    file = place / f"{table_file(table.schema, table.name)}.jsonl"
    write_lines(file, lines)
    return file


def table_file(schema: str, name: str) -> str:
    """``SCHEMA.TABLE``, each name percent-encoded outside of ``[A-Za-z0-9_-]``.

    Identifiers have up to 64 characters of up to 12 encoded bytes, file names 255 bytes: of what is longer
    the start stays, and a hash tells it from others.
    """
    whole = ".".join(
        re.sub(r"[.~]", lambda found: f"%{ord(found[0]):02X}", quote(part, safe="_-"))
        for part in (schema, name)
    )
    if len(whole) <= _LONGEST_NAME:
        return whole
    return f"{whole[:_KEPT]}-{sha256(whole.encode()).hexdigest()[:16]}"


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """``manifest.json``: what is given, and the sha256 of every file that is there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    sums = {path.relative_to(folder).as_posix(): _sha256(path) for path in files}
    text = json.dumps({**content, "files": sums}, ensure_ascii=False, indent=2)
    (folder / MANIFEST).write_text(text + "\n", "utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """A ``.jsonl`` file: an object per line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json_line(line) + "\n" for line in lines)
