"""The files that reports are written to."""

from __future__ import annotations

from pathlib import Path

from ticdc_producer.errors import ReportError


def check_target(path: Path) -> None:
    """Whether a report can be written there, asked before the work that it reports on.

    :raises ReportError: for a folder that is not there, or a folder in the file's place.
    """
    if path.is_dir():
        raise ReportError("a report is a file, and this is a folder", path=str(path))
    if not path.absolute().parent.is_dir():
        raise ReportError("the folder of the report does not exist", path=str(path), hint="make it first")


def write_text(path: Path, text: str) -> None:
    """Write a report in UTF-8; it stands there whole or not at all.

    :raises ReportError: if the system does not let us.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ReportError(f"the report cannot be written: {error.strerror}", path=str(path)) from None
