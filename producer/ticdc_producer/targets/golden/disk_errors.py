"""Errors of a disk that is full or read-only, as an error of this package."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ticdc_producer.errors import StorageError

_HINT = "no incomplete folder is left; free space there, or name another folder"


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Translate the errors of the block, which writes files.

    :param path: the folder of the files.
    :raises StorageError: if a file cannot be written.
    """
    try:
        yield
    except (ConnectionError, FileExistsError, NotADirectoryError):  # of Spark; of the path that a user names
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        what = f"{path}: files cannot be written: {reason}"
        raise StorageError(what, location=str(path), hint=_HINT) from None
