"""The file system of a storage, also of claim-check objects: any that fsspec supports."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ticdc_producer.errors import ChangefeedError, StorageError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_FSSPEC_SCHEMES = {"azure": "az", "azblob": "az"}
"""TiCDC's scheme → fsspec's scheme, where they differ."""
_BUCKET_PROTOCOLS = {"s3", "gs", "az", "oss"}
"""fsspec protocols without folders, whose ``makedirs`` may create a bucket."""
_LIBRARY_ERRORS = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("aiohttp", "ClientError"),
    ("google.auth.exceptions", "GoogleAuthError"),
    ("gcsfs.retry", "HttpError"),
    ("azure.core.exceptions", "AzureError"),
)
"""Exceptions (module, class) that libraries of object storages raise beside ``OSError``."""


def file_system(uri: str, parameter: str) -> tuple[AbstractFileSystem, str]:
    """The file system, and the folder in it.

    :param uri: a URI without parameters.
    :param parameter: the option that holds the URI, for errors.
    :raises ChangefeedError: if no package for the URI's scheme is installed.
    """
    from fsspec.core import url_to_fs  # not at the top: a run without storage need not load it

    scheme, _, rest = uri.partition("://")
    try:
        system, folder = url_to_fs(f"{_FSSPEC_SCHEMES.get(scheme, scheme)}://{rest}")
    except (ValueError, ImportError, OSError) as error:  # OSError: a library of the scheme is missing
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ChangefeedError(
            f"no file system for {uri!r}: {reason}",
            parameter=parameter,
            hint="file:///DIR needs nothing; others need the fsspec package of their scheme, as s3fs for s3",
        ) from None
    system.invalidate_cache()  # fsspec caches listings per process, and other processes write meanwhile
    return system, str(folder).rstrip("/")


def failures() -> tuple[type[Exception], ...]:
    """The exceptions that an operation of a file system can raise.

    Only classes of modules that are already imported are included.
    """
    loaded = ((sys.modules.get(module), name) for module, name in _LIBRARY_ERRORS)
    found = (getattr(module, name, None) for module, name in loaded)
    return (OSError, NotImplementedError, *filter(None, found))


def storage_error(what: str, location: str, error: Exception) -> StorageError:
    """A failure of a file system as a ``StorageError``.

    :param what: the operation that failed, as the beginning of the message.
    :param location: the storage, as the user wrote it.
    """
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    hint = "address and credentials are those of its library's own environment, as AWS_ACCESS_KEY_ID for s3"
    remote = "://" in location and not location.startswith("file:")
    return StorageError(f"{what}: {' '.join(reason.split())}", location=location, hint=hint if remote else "")


def folder_exists(system: AbstractFileSystem, folder: str) -> bool:
    """Whether a folder exists.

    :raises FileNotFoundError: if its bucket does not exist.
    :raises OSError: if the storage cannot be reached, or the settings of its library are invalid.
    """
    try:
        if system.exists(folder):
            return True
        system.find(folder)  # returns nothing for a missing folder, raises for a missing bucket
    except ValueError as error:  # for example AWS_ENDPOINT_URL without http://
        raise OSError(str(error)) from None
    return False


def make_folder(system: AbstractFileSystem, folder: str) -> None:
    """Create a folder and its parents, if the file system has folders."""
    names = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
    if not names & _BUCKET_PROTOCOLS:
        system.makedirs(folder, exist_ok=True)


def claim_storage(uri: str) -> tuple[AbstractFileSystem, str]:
    """The file system, and the folder of the objects in it.

    :param uri: ``claim-check-storage-uri``, or the path of a local folder.
    :raises ChangefeedError: if no package for the URI's scheme is installed.
    """
    if "://" not in uri:
        from fsspec.implementations.local import LocalFileSystem

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
