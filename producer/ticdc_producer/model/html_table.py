"""Small HTML tables, as notebooks display them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a title; all texts are escaped.

    >>> html_table("a & b", ("n",), [(1,)])
    '<b>a &amp; b</b><table><tr><th>n</th></tr><tr><td>1</td></tr></table>'
    """
    lines = [_row("th", head), *(_row("td", row) for row in rows)]
    return f"<b>{escape(title)}</b><table>{''.join(lines)}</table>"


def _row(tag: str, cells: Sequence[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(str(cell))}</{tag}>' for cell in cells)}</tr>"
