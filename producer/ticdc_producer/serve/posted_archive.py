"""A golden folder that a client posts as an archive: unpacked within limits, in the process of a request."""

from __future__ import annotations

import gzip
import io
import re
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from ticdc_producer.errors import FolderError, RefusedRequest
from ticdc_producer.serve.posted import MOST_FILES, check_is_small, check_manifest

_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
_ENTRY = re.compile(r"(?:[^/\\\0]{1,250}/){0,3}[^/\\\0]{1,250}")
_MOST_DIRECTORY = 1 << 20
"""Bytes of the directory of a zip file, which is read as a whole; 1000 entries have about 100 KB."""
_PART = 64 << 10
_DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, ValueError,
    RuntimeError, LookupError, ArithmeticError,
)  # fmt: skip
"""What the libraries raise for an archive that is cut or changed. ``BadGzipFile`` is an OSError, and
``RecursionError`` and ``NotImplementedError`` are RuntimeErrors.
"""


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip file or compressed by gzip, by its first bytes."""
    with path.open("rb") as file:
        return file.read(4).startswith((_ZIP, _GZIP))


def unpack(path: Path, folder: Path, name: str, most_bytes: int) -> None:
    """Unpack an archive with a golden folder: a zip file, or a tar file that is compressed by gzip.

    Links and devices are refused, and so are paths that lead elsewhere: nothing is written outside.

    :param folder: becomes the golden folder; it does not exist yet.
    :param name: how the client calls the archive.
    :param most_bytes: of its files together.
    :raises RefusedRequest: for an archive that is too large, or that this service does not unpack.
    :raises FolderError: if it is damaged, or has no golden folder.
    """
    whole = folder.with_name(f"{folder.name}-whole")
    whole.mkdir()
    members = _of_zip(path, name) if _is_zip(path) else _of_tar(path, name, most_bytes)
    try:
        _write(members, whole, name, most_bytes)
    except _DAMAGED as error:
        what = f"the archive cannot be unpacked: {type(error).__name__}"
        raise FolderError(what, path=name, hint="was it cut short?") from None
    roots = [own for own in chain([whole], sorted(whole.iterdir())) if (own / "manifest.json").is_file()]
    if not roots:
        hint = "an archive has a golden folder, with its manifest.json"
        raise FolderError("the archive has no golden folder", path=name, hint=hint)
    roots[0].rename(folder)
    shutil.rmtree(whole, ignore_errors=True)
    check_manifest(folder, name)


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == _ZIP


def _write(members: Iterator[tuple[str, IO[bytes]]], folder: Path, name: str, remaining_bytes: int) -> None:
    """Write the files of an archive.

    :param remaining_bytes: of all files, at most.
    """
    for entry, content in members:
        inside = entry.removeprefix("./")
        if not _ENTRY.fullmatch(inside) or {".", ".."} & set(inside.split("/")):
            raise RefusedRequest("the archive has a path outside of it", status=422, where=entry[:200])
        check_is_small(inside, name)
        target = folder / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            while part := content.read(_PART):
                remaining_bytes -= len(part)
                if remaining_bytes < 0:
                    raise _too_large(name)
                file.write(part)


def _too_large(name: str) -> RefusedRequest:
    what, hint = "the files of the archive are too large", "use `verify` with `folder`, which has no limit"
    return RefusedRequest(what, status=422, where=name, hint=hint).about("verify", "folder")


class _Directory(io.FileIO):
    """A zip file of which no large part is read at once: ``zipfile`` reads its directory as a whole."""

    def read(self, size: int | None = -1, /) -> Any:
        """Read a part.

        :raises BadZipFile: for a large one.
        """
        if size is not None and size > _MOST_DIRECTORY:
            raise zipfile.BadZipFile
        return super().read(size)


def _of_zip(path: Path, name: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the paths and the contents of the files in a zip file."""
    with _Directory(path) as file, zipfile.ZipFile(file) as archive:
        entries = archive.infolist()
        _check_number(len(entries), name)
        for entry in entries:
            if entry.is_dir():
                continue
            is_plain = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG) or not is_plain or entry.flag_bits & 1:
                raise _not_plain(entry.filename)
            with archive.open(entry) as content:
                yield entry.filename, content


def _check_number(number: int, name: str) -> None:
    if number > MOST_FILES:
        raise RefusedRequest(f"the archive has more than {MOST_FILES} entries", status=422, where=name)


def _not_plain(entry: str) -> RefusedRequest:
    what = "the archive has an entry that is not a file, is encrypted, or is compressed in another way"
    return RefusedRequest(what, status=422, where=entry[:200], hint="make it with zip, or with tar czf")


class _Inflated(gzip.GzipFile):
    """An inflated file with a limit: ``tarfile`` reads long names and other headers as a whole.

    :ivar remaining_bytes: that may be read.
    """

    remaining_bytes = 0

    def read(self, size: int | None = -1, /) -> bytes:
        """Read a part.

        :raises ReadError: above the limit.
        """
        part = super().read(size)
        self.remaining_bytes -= len(part)
        if self.remaining_bytes < 0:
            raise tarfile.ReadError
        return part


def _of_tar(path: Path, name: str, most: int) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the paths and the contents of the files in a tar file that is compressed by gzip."""
    with _Inflated(path) as plain:
        plain.remaining_bytes = most + MOST_FILES * (4 << 10)  # with the headers of the files
        with tarfile.open(fileobj=plain, mode="r|") as archive:
            for number, entry in enumerate(archive, 1):
                _check_number(number, name)
                if entry.isdir():
                    continue
                content = archive.extractfile(entry) if entry.isreg() and not entry.issparse() else None
                if content is None:
                    raise _not_plain(entry.name)
                yield entry.name, content
