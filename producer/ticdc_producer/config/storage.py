"""The storage sink: its options, and the file system that it writes to.

Names, defaults and keys are TiCDC's: tiflow ``pkg/config/sink.go`` (``CloudStorageConfig``),
``pkg/config/replica_config.go``, ``pkg/sink/cloudstorage/config.go``; ticdc ``pkg/cloudstorage/config.go``.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ticdc_producer.errors import ChangefeedError, StorageError
from ticdc_producer.model.option_type import AnyText, Boolean, Choice, GoDuration, IntRange, OptionType, Plain
from ticdc_producer.model.parameter import STORAGE, Parameter, Profile, SinkKind

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


MIN_INDEX_WIDTH, MAX_INDEX_WIDTH = 6, 20
_INT64_MAX = (1 << 63) - 1
_MIB = 1 << 20


def _of_storage(
    name: str,
    value: OptionType,
    default: Plain,
    effect: str,
    *,
    file_key: str = "",
    in_uri: bool = False,
    profiles: tuple[Profile, ...] = (),
) -> Parameter:
    return Parameter(
        name=name,
        value=value,
        default=default,
        effect=effect,
        in_uri=in_uri,
        file_key=file_key or f"sink.{name}",
        sinks=(SinkKind.STORAGE,),
        profiles=profiles,
    )


OF_STORAGE = (
    _of_storage("terminator", AnyText(), "\r\n", "Text after every row."),
    _of_storage(
        "date-separator", Choice(choices=("none", "year", "month", "day"), aliases=(("", "none"),)), "day",
        "Directories by date: date of the commit in time-zone (TiCDC: date of the write).",
    ),
    _of_storage(
        "enable-partition-separator", Boolean(), True,
        "A directory for each partition of a partitioned table.",
    ),
    _of_storage(
        "file-index-digit", IntRange(-_INT64_MAX, _INT64_MAX), MAX_INDEX_WIDTH,
        "Digits of a file's number; values outside of 6 to 20 become 20.",
    ),
    _of_storage(
        "file-size", IntRange(-_INT64_MAX, _INT64_MAX), 64 * _MIB,
        "Bytes after which a file ends, at the end of a transaction: 1 MiB (new: 1 KiB) to 512 MiB.",
        file_key=STORAGE + "file-size", in_uri=True,
    ),
    _of_storage(
        "flush-interval", GoDuration(optional=True), None,
        "A file ends at each multiple of this interval on the commit clock, from 2s (new: 100ms) to 10m; by "
        "default no file ends by time (TiCDC: 5s of its own clock).",
        file_key=STORAGE + "flush-interval", in_uri=True,
    ),
    _of_storage(
        "output-column-id", Boolean(), False, "Schema files contain the ids of columns.",
        file_key=STORAGE + "output-column-id",
    ),
    _of_storage(
        "use-table-id-as-path", Boolean(), False,
        "Directories are named after the physical ids of tables instead of databases and tables.",
        file_key=STORAGE + "use-table-id-as-path", in_uri=True, profiles=("new",),
    ),
    _of_storage(
        "enable-table-across-nodes", Boolean(), False,
        "With profile=new the names of files contain the id of the dispatcher. One node is simulated, which "
        "splits no table.",
        file_key="scheduler.enable-table-across-nodes",
    ),
    _of_storage(
        "enable-active-active", Boolean(), False,
        "Soft deletes stay updates; every table must be active-active. TiCDC refuses it for Kafka.",
        file_key="enable-active-active", profiles=("new",),
    ),
)  # fmt: skip


_LARGEST_FILE = 512 << 20
_SMALLEST_FILE = {"classic": 1 << 20, "new": 1 << 10}
_LONGEST_MS = 600_000
_SHORTEST_MS = {"classic": 2000, "new": 100}
_NO_LIMIT = (1 << 31) - 1


def storage_limits(options: Mapping[str, Plain]) -> dict[str, Plain]:
    """Return the options that have bounds, with their effective values.

    ``max-message-bytes`` is a limit of Kafka: a row of a file may have any size.
    """
    profile, width = str(options["profile"]), _number(options["file-index-digit"])
    size = min(max(_number(options["file-size"]), _SMALLEST_FILE[profile]), _LARGEST_FILE)
    flush = options["flush-interval"]
    if flush is not None:
        flush = min(max(_number(flush), _SHORTEST_MS[profile]), _LONGEST_MS)
    return {
        "file-index-digit": width if MIN_INDEX_WIDTH <= width <= MAX_INDEX_WIDTH else MAX_INDEX_WIDTH,
        "file-size": size,
        "flush-interval": flush,
        "max-message-bytes": _NO_LIMIT,
    }


def _number(value: Plain) -> int:
    return int(value or 0)


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
"""Exceptions (module, class) that libraries of object storages raise besides ``OSError``."""


def file_system(uri: str, parameter: str) -> tuple[AbstractFileSystem, str]:
    """Return the file system, and the folder in it.

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
    """Return the exceptions that an operation of a file system can raise.

    Only classes of modules that are already imported are included.
    """
    loaded = ((sys.modules.get(module), name) for module, name in _LIBRARY_ERRORS)
    classes = (getattr(module, name, None) for module, name in loaded)
    return (OSError, NotImplementedError, *filter(None, classes))


def storage_error(what: str, location: str, error: Exception) -> StorageError:
    """Return a failure of a file system as a ``StorageError``.

    :param what: the operation that failed, as the beginning of the message.
    :param location: the storage, as the user wrote it.
    """
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    hint = "address and credentials are those of its library's own environment, as AWS_ACCESS_KEY_ID for s3"
    remote = "://" in location and not location.startswith("file:")
    return StorageError(f"{what}: {' '.join(reason.split())}", location=location, hint=hint if remote else "")


def folder_exists(system: AbstractFileSystem, folder: str) -> bool:
    """Return whether a folder exists.

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
    """Return the file system, and the folder of the objects in it.

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
