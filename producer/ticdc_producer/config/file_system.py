"""The file system of a storage: any that fsspec knows."""

from __future__ import annotations

import sys

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs

from ticdc_producer.errors import ChangefeedError, StorageError

_OF_TICDC = {"azure": "az", "azblob": "az"}
"""Schemes that TiCDC spells otherwise than fsspec."""
_OF_BUCKETS = {"s3", "gs", "az", "oss"}
"""fsspec's names of file systems without folders, whose ``makedirs`` may make a bucket."""
_OF_LIBRARIES = (
    ("botocore.exceptions", "BotoCoreError"),
    ("botocore.exceptions", "ClientError"),
    ("aiohttp", "ClientError"),
    ("google.auth.exceptions", "GoogleAuthError"),
    ("gcsfs.retry", "HttpError"),
    ("azure.core.exceptions", "AzureError"),
)
"""What object storages raise beside ``OSError``, such as for an address where nobody answers."""


def file_system(place: str, parameter: str) -> tuple[AbstractFileSystem, str]:
    """The file system, and the folder in it.

    :param place: a URI without parameters.
    :param parameter: the option that names it, for errors.
    :raises ChangefeedError: for a scheme that nothing is installed for.
    """
    scheme, _, rest = place.partition("://")
    try:
        system, folder = url_to_fs(f"{_OF_TICDC.get(scheme, scheme)}://{rest}")
    except (ValueError, ImportError, OSError) as error:  # OSError: a library of the scheme is missing
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ChangefeedError(
            f"no file system for {place!r}: {reason}",
            parameter=parameter,
            hint="file:///DIR needs nothing; others need the fsspec package of their scheme, as s3fs for s3",
        ) from None
    system.invalidate_cache()  # one instance serves the whole process, and others write meanwhile
    return system, str(folder).rstrip("/")


def failures() -> tuple[type[Exception], ...]:
    """What a file system raises that does not do what it is asked to."""
    loaded = ((sys.modules.get(module), name) for module, name in _OF_LIBRARIES)
    found = (getattr(module, name, None) for module, name in loaded)
    return (OSError, NotImplementedError, *filter(None, found))


def storage_error(what: str, place: str, error: Exception) -> StorageError:
    """A failure as an error of ours.

    :param what: is not possible.
    :param place: the storage, as the user named it.
    """
    told = getattr(error, "strerror", None) or str(error) or type(error).__name__
    hint = "address and credentials are those of its library's own environment, as AWS_ACCESS_KEY_ID for s3"
    far = "://" in place and not place.startswith("file:")
    return StorageError(f"{what}: {' '.join(told.split())}", location=place, hint=hint if far else "")


def there(system: AbstractFileSystem, folder: str) -> bool:
    """Whether a folder exists.

    :raises FileNotFoundError: for one in a bucket that does not exist.
    :raises OSError: also for settings of its library that make no sense.
    """
    try:
        if system.exists(folder):
            return True
        system.find(folder)  # in a missing folder it finds nothing, in a missing bucket it raises
    except ValueError as error:  # such as AWS_ENDPOINT_URL without its http://
        raise OSError(str(error)) from None
    return False


def make_folder(system: AbstractFileSystem, folder: str) -> None:
    """Make a folder and those above it, where the file system has any."""
    names = {system.protocol} if isinstance(system.protocol, str) else set(system.protocol)
    if not names & _OF_BUCKETS:
        system.makedirs(folder, exist_ok=True)
