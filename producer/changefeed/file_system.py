"""The file system of a storage: any that fsspec knows."""

from __future__ import annotations

from fsspec import AbstractFileSystem
from fsspec.core import url_to_fs

from producer.errors import ChangefeedError

_OF_TICDC = {"azure": "az", "azblob": "az"}
"""Schemes that TiCDC spells otherwise than fsspec."""


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
    return system, str(folder).rstrip("/")
