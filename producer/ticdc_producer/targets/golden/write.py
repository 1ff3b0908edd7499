"""Writes the files of a golden folder: messages, the expected decode, the expected state, and a manifest.

Format: ``docs/design.md#commands-and-files``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest, sha256
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote

import pyarrow as pa

from ticdc_producer.config import Changefeed
from ticdc_producer.config.changefeed_toml import changefeed_toml
from ticdc_producer.engine.dataset import Batches, Dataset
from ticdc_producer.model.event import ClaimObject
from ticdc_producer.model.event_line import json_line
from ticdc_producer.model.table import TableInfo
from ticdc_producer.targets.golden.folder import MANIFEST
from ticdc_producer.targets.golden.json_lines import event_lines, message_lines, schema_lines
from ticdc_producer.targets.golden.parquet import write_parquet

MAX_JSON_LINES = 100_000
"""Up to this number of messages, a folder has JSON lines; above it, Parquet with the same columns."""

CHANGEFEED = "changefeed.toml"
MESSAGE_FILES = "messages.parquet"
SCHEMAS = "schemas.jsonl"
CLAIMS = "claims"
"""Folder of the claim-check objects. They are stored here, even if the changefeed names another storage."""
_MAX_NAME, _NAME_PREFIX = 240, 200
_LINES = pa.schema([("lines", pa.binary())])


def write_rows(folder: Path, rows: Dataset, count: int, form: FileForm) -> None:
    """Write rows as JSON lines, or as Parquet for more than ``MAX_JSON_LINES`` messages.

    Parts make the lines, and this process writes them, a batch at a time. Each part writes its Parquet file.

    :param rows: in order.
    :param count: number of messages of the folder.
    """
    if count > MAX_JSON_LINES:
        write_parquet(rows, folder / form.parquet)
        return
    lines = rows.map(partial(_lines, form.lines), _LINES)
    with (folder / form.json_lines).open("wb") as file:
        for batch in lines.batches():
            file.writelines(batch.column(0).to_pylist())


def _lines(form: Callable[[pa.RecordBatch], bytes], batches: Batches) -> Batches:
    for batch in batches:
        yield pa.record_batch([pa.array([form(batch)], pa.binary())], schema=_LINES)


@dataclass(frozen=True)
class FileForm:
    """The files of a kind of rows.

    :param lines: makes the JSON lines of a batch.
    """

    json_lines: str
    parquet: str
    lines: Callable[[pa.RecordBatch], bytes]


MESSAGE_FORM = FileForm("messages.jsonl", MESSAGE_FILES, message_lines)
"""Of messages (shape ``MESSAGES``)."""
EVENT_FORM = FileForm("events.jsonl", "events.parquet", event_lines)
"""Of the expected decode (shape ``EXPECTED_EVENTS``)."""


def write_schemas(folder: Path, schemas: Mapping[int, str]) -> None:
    """Write ``schemas.jsonl``, the Avro schemas.

    :param schemas: by the schema id in the messages.
    """
    (folder / SCHEMAS).write_bytes(schema_lines(schemas))


def write_faults(folder: Path, faults: Dataset) -> None:
    """Write ``faults.jsonl``: one line per injected fault.

    :param faults: ``trap``, ``topic``, ``partition``, ``offset``, ``until``, ``events`` and ``commit_ts``
        (TSO), in order; columns become keys.
    """
    write_lines(folder / "faults.jsonl", (row for batch in faults.batches() for row in batch.to_pylist()))


def write_claims(folder: Path, claims: Iterable[ClaimObject]) -> None:
    """Write ``claims/``: one file per claim-check object.

    :param claims: in any order.
    """
    directory = folder / CLAIMS
    directory.mkdir(exist_ok=True)
    for claim in claims:
        (directory / claim.name).write_bytes(claim.content)


def write_state(folder: Path, table: TableInfo, lines: Iterable[bytes]) -> Path:
    """Write ``SCHEMA.TABLE.jsonl``: the rows of a table.

    :param lines: the lines of the file, some in each element; see ``json_lines.state_lines``.
    :return: the file.
    """
    path = folder / f"{table_file(table.schema, table.name)}.jsonl"
    with path.open("wb") as file:
        file.writelines(lines)
    return path


def table_file(schema: str, name: str) -> str:
    """Return ``SCHEMA.TABLE``, each name percent-encoded outside of ``[A-Za-z0-9_-]``.

    Identifiers have up to 64 characters of up to 12 encoded bytes, file names up to 255 bytes: a longer
    name is cut, and a hash makes it unique.
    """
    whole = ".".join(
        re.sub(r"[.~]", lambda match: f"%{ord(match[0]):02X}", quote(part, safe="_-"))
        for part in (schema, name)
    )
    if len(whole) <= _MAX_NAME:
        return whole
    return f"{whole[:_NAME_PREFIX]}-{sha256(whole.encode()).hexdigest()[:16]}"


def write_changefeed(folder: Path, changefeed: Changefeed) -> None:
    """Write ``changefeed.toml``: the input of TiCDC's ``--config``, with the sink URI in a comment."""
    (folder / CHANGEFEED).write_text(changefeed_toml(changefeed), "utf-8")


def write_manifest(
    folder: Path,
    content: Mapping[str, object],
    row_sums: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
) -> None:
    """Write ``manifest.json``: the content, and the sha256 of every file in the folder.

    :param row_sums: the sums of the rows of files, by name. Each gets the sha256 of its file, so that it does
        not count for a file that was changed together with its sha256.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = {path.relative_to(folder).as_posix(): _sha256(path) for path in files}
    of_rows = {name: {**sums, "sha256": hashes[name]} for name, sums in row_sums.items()}
    more = {"row_sums": of_rows} if of_rows else {}
    text = json.dumps({**content, **more, "files": hashes}, ensure_ascii=False, indent=2)
    (folder / MANIFEST).write_text(text + "\n", "utf-8")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def write_lines(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    """Write a ``.jsonl`` file: one object per line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json_line(line) + "\n" for line in lines)
