"""The paths of files and folders that users give. A URI is none."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENAMETOOLONG
from os import PathLike
from pathlib import Path

from ticdc_producer.errors import ArgumentError, FolderError

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")
"""The beginning of a URI. A path has one slash after the colon. One letter is a drive of Windows."""


def local_path(location: str | Path) -> Path:
    """Return the path of a file or folder.

    :raises FolderError: if the location is a URI: as a path it would be a folder of the scheme's name; if it
        is not a path; and if no file can have its name.
    """
    text = str(location)
    if not isinstance(location, str | PathLike) or not _is_encodable(text):
        printable = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode()
        raise FolderError("it is not the path of a file or folder", path=printable)
    if not _URI.match(text):
        path = Path(location)
        _refuse_long(path)
        return path
    hint = "give a path; the URI of a topic or of a storage is given as `sink_uri`"
    raise FolderError(
        "it is a URI, not a file or folder", path=_URI.sub(r"\1://", text, count=1), hint=hint
    ).about("sink_uri")


def _is_encodable(text: str) -> bool:
    """Return whether a text can be a path: it has neither zeros nor half a surrogate pair."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def replace_file(path: Path, content: bytes) -> None:
    """Write a file that is always a whole one: an interruption leaves the former content."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(content)
    partial.replace(path)


def _refuse_long(path: Path) -> None:
    """Refuse a path that is longer than those of the file system."""
    try:
        path.lstat()
    except OSError as error:
        if error.errno == ENAMETOOLONG:
            what = "the name is too long for a file or folder"
            raise FolderError(what, path=f"{str(path)[:100]}…") from None


@contextmanager
def usable(path: Path, argument: str) -> Iterator[None]:
    """Refuse a file that the user named and that the operating system does not let read or write.

    :param argument: the one that names the file.
    :raises ArgumentError: for an error of the operating system in the block.
    """
    try:
        yield
    except OSError as error:
        what = f"the file cannot be used: {error.strerror or error}"
        hint = "name a file in a folder that exists and can be written"
        raise ArgumentError(what, argument=argument, where=str(path), hint=hint) from error
