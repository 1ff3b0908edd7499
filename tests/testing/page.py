"""The code blocks of ``docs/testing.md`` as files, named by their first lines."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
_FILE = re.compile(r"^```(?:python|sql)\n(?:#|--) (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"^```(?:python|sql)$", re.MULTILINE)


def page_files() -> dict[str, str]:
    """File name → content of every code block."""
    text = PAGE.read_text("utf-8")
    files: dict[str, str] = dict(_FILE.findall(text))
    assert len(files) == len(_BLOCK.findall(text))
    return files


def write_page_files(folder: Path) -> None:
    for name, content in page_files().items():
        (folder / name).write_text(content, "utf-8")
