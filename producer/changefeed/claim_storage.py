"""Where claim-check objects are kept: any file system that fsspec knows."""

from __future__ import annotations

from pathlib import Path

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from producer.errors import ChangefeedError


def claim_storage(place: str) -> tuple[AbstractFileSystem, str]:
    """The file system, and the folder of the objects in it.

    :param place: ``claim-check-storage-uri``, or the path of a local folder.
    :raises ChangefeedError: for a scheme that nothing is installed for.
    """
    if "://" not in place:
        return LocalFileSystem(), str(Path(place).absolute())
    try:
        system, folder = url_to_fs(place)
    except (ValueError, ImportError) as error:
        raise ChangefeedError(
            f"no file system for {place!r}: {error}",
            parameter="claim-check-storage-uri",
            hint="file:///DIR needs nothing; others need the fsspec package of their scheme, as s3fs for s3",
        ) from None
    return system, str(folder).rstrip("/")
