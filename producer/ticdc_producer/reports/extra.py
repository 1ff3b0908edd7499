"""The libraries of the HTML report, which the package's extra ``spark`` installs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from ticdc_producer.errors import ReportError
from ticdc_producer.installation import install_command

_LIBRARIES = ("jinja2", "matplotlib")


def check_installed(path: Path) -> None:
    """Check that an HTML report can be written, before the work that it reports on.

    :raises ReportError: if a library is missing; the hint names the extra.
    """
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        hint = install_command("spark")
        raise ReportError(f"an HTML report needs {' and '.join(missing)}", path=str(path), hint=hint)
