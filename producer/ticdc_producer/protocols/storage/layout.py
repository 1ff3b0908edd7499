"""Names of the files, as paths under the folder of the sink.

Source: tiflow ``pkg/sink/cloudstorage/path.go``, ticdc ``pkg/cloudstorage/generator.go``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ticdc_producer.protocols.storage.schema_file import SchemaFile

METADATA = "metadata"
"""The file that contains the commit-ts up to which all rows have been written."""
INDEX = "meta/CDC.index"
"""Path in a directory of data files; the file contains the name of the last data file."""
_DATA = re.compile(r"CDC([0-9]{6,20})\.[a-z]{1,10}")
_SCHEMA = re.compile(r"schema_([0-9]{1,20})_([0-9]{10})\.json")


@dataclass(frozen=True, slots=True)
class SchemaName:
    """The version and checksum in the name of a schema file."""

    version: int
    checksum: int


def schema_path(file: SchemaFile) -> str:
    """``SCHEMA/meta/…`` for DDL of a database, otherwise ``SCHEMA/TABLE/meta/…``."""
    folder = f"{file.schema}/{file.table}" if file.table else file.schema
    return f"{folder}/meta/schema_{file.version}_{file.checksum:010}.json"


def version_folder(schema: str, table: str, version: int) -> str:
    """Directory of the rows of one version of a table; partitions and dates are directories in it."""
    return f"{schema}/{table}/{version}"


def data_name(number: int, width: int, extension: str) -> str:
    """Name of a data file.

    :param number: counted from 1 in each directory.
    :param width: minimum number of digits.
    :param extension: with its dot.
    """
    return f"CDC{number:0{width}}{extension}"


def data_number(name: str) -> int | None:
    """The number of a data file by its name; None for other files."""
    found = _DATA.fullmatch(name)
    return int(found[1]) if found else None


def schema_name(name: str) -> SchemaName | None:
    """Version and checksum from a schema file's name; None for other files."""
    found = _SCHEMA.fullmatch(name)
    return SchemaName(int(found[1]), int(found[2])) if found else None


def metadata(checkpoint_ts: int) -> bytes:
    """Content of ``metadata``."""
    return b'{"checkpoint-ts":%d}' % checkpoint_ts
