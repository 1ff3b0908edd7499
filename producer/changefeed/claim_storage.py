"""Where claim-check objects are kept: any file system that fsspec knows."""

from __future__ import annotations

from pathlib import Path

from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from producer.changefeed.file_system import file_system


def claim_storage(place: str) -> tuple[AbstractFileSystem, str]:
    """The file system, and the folder of the objects in it.

    :param place: ``claim-check-storage-uri``, or the path of a local folder.
    :raises ChangefeedError: for a scheme that nothing is installed for.
    """
    if "://" not in place:
        return LocalFileSystem(), str(Path(place).absolute())
    return file_system(place, "claim-check-storage-uri")
