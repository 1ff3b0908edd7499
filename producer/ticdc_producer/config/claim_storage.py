"""Where claim-check objects are kept: any file system that fsspec knows."""

from __future__ import annotations

from pathlib import Path

from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from ticdc_producer.config.file_system import failures, file_system, storage_error, there


def claim_storage(place: str) -> tuple[AbstractFileSystem, str]:
    """The file system, and the folder of the objects in it.

    :param place: ``claim-check-storage-uri``, or the path of a local folder.
    :raises ChangefeedError: for a scheme that nothing is installed for.
    """
    if "://" not in place:
        return LocalFileSystem(), str(Path(place).absolute())
    return file_system(place, "claim-check-storage-uri")


def check_claim_storage(place: str) -> None:
    """A first look, before anything is sent that names its objects.

    :raises ChangefeedError: for a scheme that nothing is installed for.
    :raises StorageError: for a storage that does not answer, lets nobody in, or lacks the bucket.
    """
    system, folder = claim_storage(place)
    try:
        there(system, folder)
    except failures() as error:
        raise storage_error(f"{place} cannot be reached", place, error) from None
