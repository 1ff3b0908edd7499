"""MkDocs hooks: add files of the checkout to which pages link, and rewrite these links."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[1]
_OUTSIDE = re.compile(r"\[([^\]]*)\]\(\.\./([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Add every file outside of ``docs`` to which a page links, and the results of the benchmarks."""
    pages = files.documentation_pages()
    linked = {link[2] for page in pages for link in _OUTSIDE.finditer(page.content_string)}
    results = {str(file.relative_to(_ROOT)) for file in _ROOT.glob("benchmarks/results/*.json")}
    for path in sorted(linked | results):
        if (_ROOT / path).is_file() and files.get_file_from_path(_site_path(path)) is None:
            files.append(File.generated(config, _site_path(path), abs_src_path=str(_ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite links to files outside of ``docs``; a link to a folder becomes plain text.

    Pages in subfolders are unchanged, because their ``../`` links lead to other pages.
    """
    if "/" in page.file.src_uri:
        return markdown
    return _OUTSIDE.sub(_inside, markdown)


def _inside(link: re.Match[str]) -> str:
    text, path, anchor = link[1], link[2], link[3] or ""
    return f"[{text}]({_site_path(path)}{anchor})" if (_ROOT / path).is_file() else text


def _site_path(path: str) -> str:
    """The path in the site; benchmark results are next to the pages, so that links in ``RESULTS.md`` work."""
    return path.removeprefix("benchmarks/")
