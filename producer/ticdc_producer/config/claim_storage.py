"""The storage of claim-check objects: any file system that fsspec supports."""

from __future__ import annotations

from pathlib import Path

from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from ticdc_producer.config.file_system import failures, file_system, folder_exists, storage_error


def claim_storage(uri: str) -> tuple[AbstractFileSystem, str]:
    """The file system, and the folder of the objects in it.

    :param uri: ``claim-check-storage-uri``, or the path of a local folder.
    :raises ChangefeedError: if no package for the URI's scheme is installed.
    """
    if "://" not in uri:
        return LocalFileSystem(), str(Path(uri).absolute())
    return file_system(uri, "claim-check-storage-uri")


def check_claim_storage(uri: str) -> None:
    """Check that the storage can be reached, before any message that names its objects is sent.

    :raises ChangefeedError: if no package for the URI's scheme is installed.
    :raises StorageError: if the storage does not answer, denies access, or the bucket does not exist.
    """
    system, folder = claim_storage(uri)
    try:
        folder_exists(system, folder)
    except failures() as error:
        raise storage_error(f"{uri} cannot be reached", uri, error) from None
