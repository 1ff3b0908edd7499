"""The paths of files and folders that users give. A URI is none."""

from __future__ import annotations

import re
from pathlib import Path

from ticdc_producer.errors import FolderError

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")
"""The beginning of a URI. A path has one slash after the colon. One letter is a drive of Windows."""


def local_path(location: str | Path) -> Path:
    """Return the path of a file or folder.

    :raises FolderError: if the location is a URI: as a path it would be a folder of the scheme's name.
    """
    text = str(location)
    if not _URI.match(text):
        return Path(location)
    hint = "give a path; the URI of a topic or of a storage is given as `sink_uri`"
    raise FolderError(
        "it is a URI, and no file or folder here", path=_URI.sub(r"\1://", text, count=1), hint=hint
    ).about("sink_uri")
