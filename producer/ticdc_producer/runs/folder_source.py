"""The kind of a folder that a user names without an option: a golden folder, or that of a storage sink."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from ticdc_producer.errors import FolderError
from ticdc_producer.protocols.registry import protocol_specs
from ticdc_producer.targets.golden.write import MANIFEST


def folder_source(folder: Path, protocol: str | None = None) -> dict[str, str]:
    """Return the argument of ``decode`` for a folder: ``folder`` or ``sink_uri``.

    :param protocol: of a storage folder; None: it follows from the names of the data files.
    :raises FolderError: for a folder of another kind.
    """
    if (folder / MANIFEST).is_file():
        return {"folder": str(folder)}
    likely = protocol or _protocol_of(folder)
    if likely is None:
        what = "this is neither a golden folder nor the folder of a storage sink"
        hint = f"a golden folder has a {MANIFEST}, a storage sink's has files such as CDC000001.csv"
        raise FolderError(what, path=str(folder), hint=hint)
    return {"sink_uri": f"file://{quote(str(folder.absolute()))}?protocol={likely}"}


def _protocol_of(folder: Path) -> str | None:
    """Return the protocol of the first data files; None if there are none."""
    for spec in protocol_specs():
        if spec.file_format is not None and any(folder.rglob(f"CDC*{spec.file_format.extension}")):
            return spec.name
    return None
