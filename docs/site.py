"""What the site needs beside its pages: files of the checkout that they link to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[1]
_OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds every file outside of ``docs`` that a page links to, and the figures of the benchmarks."""
    pages = files.documentation_pages()
    linked = {link[2] for page in pages for link in _OUTSIDE.finditer(page.content_string)}
    figures = {str(place.relative_to(_ROOT)) for place in _ROOT.glob("benchmarks/results/*.json")}
    for path in sorted(linked | figures):
        if (_ROOT / path).is_file() and files.get_file_from_path(_place(path)) is None:
            files.append(File.generated(config, _place(path), abs_src_path=str(_ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to those files; of a folder only the words stay. Pages in folders link to each other."""
    if "/" in page.file.src_uri:
        return markdown
    return _OUTSIDE.sub(_inside, markdown)


def _inside(link: re.Match[str]) -> str:
    words, path, anchor = link[1], link[2], link[3] or ""
    return f"[{words}]({_place(path)}{anchor})" if (_ROOT / path).is_file() else words


def _place(path: str) -> str:
    """In the site: figures next to the pages, so that the links of ``RESULTS.md`` hold."""
    return path.removeprefix("benchmarks/")
