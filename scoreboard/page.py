"""The scoreboard as one HTML file without scripts. Text of consumers and messages is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from scoreboard.results import CELLS, Cause, Cell, ConsumerResult, History, MessageText, Scoreboard

HEADINGS = {
    "decode": "decode",
    "apply": "apply",
    "restart": "restart",
    "traps": "legal traps",
    "random": "random histories",
}
_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em; color: #1c1c1c; }
table { border-collapse: collapse; }
td, th { border: 1px solid #bbb; padding: .25em .6em; text-align: left; vertical-align: top; }
.passed { background: #d7f0d7; } .failed { background: #f6cccc; } .skipped { background: #eee; color: #555; }
pre { background: #f4f4f4; padding: .6em; overflow-x: auto; white-space: pre-wrap; word-break: break-all; }
section { margin-top: 2em; }
"""


def page(board: Scoreboard) -> str:
    """Return the page."""
    return "\n".join(["<!doctype html>", *_lines(board), ""])


def _lines(board: Scoreboard) -> Iterator[str]:
    ran = [result for result in board.consumers if result.ran]
    yield f'<html lang="en"><meta charset="utf-8"><title>Scoreboard</title><style>{_STYLE}</style>'
    yield "<h1>Consumers of TiCDC's topics</h1>"
    yield (
        f"<p>{len(ran)} consumers ran. Each column has the cases that a consumer passed, of those that it "
        "did not skip: the corpus at three levels, a history with each legal trap, and up to "
        f"{board.examples} random histories of seed {board.seed}, until one fails. A red cell opens what "
        "failed.</p>"
    )
    yield "<table><tr><th>consumer</th><th>software</th>"
    yield "".join(f"<th>{HEADINGS[name]}</th>" for name in CELLS) + "</tr>"
    for result in ran:
        yield f"<tr><td>{escape(result.name)}</td><td>{escape(result.software)}</td>"
        yield "".join(_cell(result, name) for name in CELLS) + "</tr>"
    yield "</table><h2>Not run</h2><table><tr><th>consumer</th><th>software</th><th>needs</th></tr>"
    for result in board.consumers:
        if not result.ran:
            yield f"<tr><td>{escape(result.name)}</td><td>{escape(result.software)}</td>"
            yield f"<td>{escape(result.needs)}</td></tr>"
    yield "</table>"
    for result in ran:
        for name in CELLS:
            if result.cells[name].failed:
                yield from _section(result, name)


def cell_text(cell: Cell) -> str:
    """Return the text of a cell: cases that passed, of those that were not skipped."""
    total = cell.passed + cell.failed
    return f"{cell.passed:,} of {total:,}" if total else "–"


def _anchor(result: ConsumerResult, name: str) -> str:
    return f"{result.name}.{name}"


def _cell(result: ConsumerResult, name: str) -> str:
    cell = result.cells[name]
    text = cell_text(cell)
    if cell.failed:
        text = f'<a href="#{escape(_anchor(result, name))}">{text}</a>'
    title = f' title="{escape(cell.note)}"' if cell.note else ""
    return f'<td class="{cell.status}"{title}>{text}</td>'


def _section(result: ConsumerResult, name: str) -> Iterator[str]:
    cell = result.cells[name]
    yield f'<section id="{escape(_anchor(result, name))}"><h2>{escape(result.name)}: {HEADINGS[name]}</h2>'
    for cause in cell.causes:
        yield from _cause(cause)
    histories = cell.histories
    if cell.causes and not histories and name != "decode":
        histories = result.cells["random"].histories or result.cells["traps"].histories[:1]
        yield "<p>The shortest history of this consumer that fails:</p>" if histories else ""
    for history in histories:
        yield from _history(history)
    yield "</section>"


def _cause(cause: Cause) -> Iterator[str]:
    yield f"<h3>{escape(cause.case)}</h3><p>{escape(cause.description)}</p>"
    yield _block(cause.reasons)
    yield from _messages(cause.messages)
    if cause.others:
        yield f"<p>also: {escape(', '.join(cause.others))}</p>"


def _history(history: History) -> Iterator[str]:
    yield f"<h3>{escape(history.name)}</h3>"
    yield _block(f"{statement};" for statement in history.statements)
    yield _block([*history.settings, *history.reasons])
    yield from _messages(history.messages)
    if history.others:
        yield f"<p>also: {escape(', '.join(history.others))}</p>"


def _messages(messages: Iterable[MessageText]) -> Iterator[str]:
    lines = [line for message in messages for line in _message(message)]
    if lines:
        yield f"<details><summary>messages</summary>{_block(lines)}</details>"


def _message(message: MessageText) -> Iterator[str]:
    if message.at:
        yield message.at
    yield f"key   {message.key}"
    yield f"value {message.value}"


def _block(lines: Iterable[str]) -> str:
    return f"<pre>{escape(chr(10).join(lines))}</pre>"
