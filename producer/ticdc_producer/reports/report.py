"""A report: what it is about, and the file that it is written to."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ticdc_producer.errors import EnvironmentFailure, ReportError


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The subject of a report: the verified stream.

    :param name: the scenario's name, or the topic's if no scenario was given.
    :param protocol: TiCDC's name of the protocol.
    :param seconds: how long reading and verifying it took; 0 if it was not measured.
    :param source: text of the scenario; empty: none, or one that may hold a password.
    :param created: version of the tool and date of the report; empty: the page does not name them.
    """

    name: str
    protocol: str
    seconds: float = 0.0
    created: str = ""
    source: str = ""


def check_target(path: Path) -> None:
    """Check that a report can be written, before the work that it reports on.

    :raises ReportError: if the folder does not exist, or the path itself is a folder.
    """
    if path.is_dir():
        raise ReportError("a report is a file, and this is a folder", path=str(path))
    if not path.absolute().parent.is_dir():
        raise ReportError("the folder of the report does not exist", path=str(path), hint="create it first")


def write_text(path: Path, text: str) -> None:
    """Write a report in UTF-8 atomically; a device or pipe is written directly, and not replaced.

    :raises EnvironmentFailure: if the file cannot be written.
    """
    partial = path.with_name(f"{path.name}.partial") if path.is_file() or not path.exists() else path
    try:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace")
        if partial != path:
            partial.replace(path)
    except OSError as error:
        if partial != path:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
        what = f"the report cannot be written: {error.strerror}"
        hint = "free space there, or name another file"
        raise EnvironmentFailure(what, where=str(path), hint=hint) from None
