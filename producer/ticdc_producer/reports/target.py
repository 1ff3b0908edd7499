"""The files that reports are written to, and the libraries that the HTML report needs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ticdc_producer.errors import ReportError
from ticdc_producer.installation import install_command


def check_target(path: Path) -> None:
    """Check that a report can be written, before the work that it reports on.

    :raises ReportError: if the folder does not exist, or the path itself is a folder.
    """
    if path.is_dir():
        raise ReportError("a report is a file, and this is a folder", path=str(path))
    if not path.absolute().parent.is_dir():
        raise ReportError("the folder of the report does not exist", path=str(path), hint="create it first")


def write_text(path: Path, text: str) -> None:
    """Write a report in UTF-8 atomically.

    :raises ReportError: if the file cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ReportError(f"the report cannot be written: {error.strerror}", path=str(path)) from None


_LIBRARIES = ("jinja2", "matplotlib")


def check_installed(path: Path) -> None:
    """Check that an HTML report can be written, before the work that it reports on.

    :raises ReportError: if a library is missing; the hint names the extra.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        hint = install_command("html")
        raise ReportError(f"an HTML report needs {' and '.join(missing)}", path=str(path), hint=hint)
