"""The scoreboard: its results and its page with toy consumers, and the parsers of other projects."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from scoreboard.__main__ import main
from scoreboard.consumers import CONSUMERS, NOT_STARTED, Consumer
from scoreboard.formats import FORMATS, body_of
from scoreboard.page import page
from scoreboard.results import CELLS, RESULTS, Cell, ConsumerResult, Scoreboard, merged, read_results
from tests.conformance.restart.bugs import bug, python
from tests.peers.software import NotRun
from ticdc_producer.conformance.case_spec import Level

MOST_STATEMENTS = 5
BRACKETS = ("BEGIN", "COMMIT")
"""The limits of a transaction: they are not counted."""
LEAST_CONSUMERS = 12
ARGUMENTS = (
    "--filter", "required.canal-json.rows.insert", "--filter", "*.canal-json.restart.truncated",
    "--examples", "6", "--trap", "duplicate-event",
)  # fmt: skip


def toy(name: str, change: str = "") -> Consumer:
    """The example in Python, with a bug."""
    return Consumer(
        name=name,
        software="toy <1>",
        protocols=("canal-json",),
        levels=(Level.DECODE, Level.APPLY, Level.RESTART),
        needs="Python",
        command=lambda folder: python(folder, bug(change) if change else None),
    )


def absent(_folder: Path) -> str:
    raise NotRun("its jar is missing")


WRONG = toy("wrong", "stores the resolved-ts before the rows")
TOYS = (
    toy("right"),
    WRONG,
    Consumer(name="absent", software="toy", protocols=(), levels=(), needs="a jar", command=absent),
)


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scoreboard")
    assert main(["--out", str(folder), *ARGUMENTS], TOYS) == 0
    return folder


@pytest.fixture(scope="module")
def board(out: Path) -> Scoreboard:
    return read_results(out / "scoreboard.json")


def result_of(board: Scoreboard, name: str) -> ConsumerResult:
    return next(result for result in board.consumers if result.name == name)


def test_a_right_consumer_has_no_red_cell(board: Scoreboard) -> None:
    cells = result_of(board, "right").cells
    assert [*cells] == [*CELLS]
    assert {name: cell.status for name, cell in cells.items()} == {
        "decode": "passed", "apply": "skipped", "restart": "passed", "traps": "passed", "random": "passed",
    }  # fmt: skip
    assert cells["random"].passed == 6


def test_a_bug_has_a_shrunk_history_with_its_messages(board: Scoreboard) -> None:
    cells = result_of(board, "wrong").cells
    (history,) = cells["random"].histories
    assert cells["decode"].status == "passed"
    assert 0 < len(history.statements) <= MOST_STATEMENTS
    assert any("is stopped in" in line for line in history.settings)
    assert history.reasons
    assert any("INSERT" in (message.value or "") for message in history.messages)


def test_equal_runs_have_equal_bytes(out: Path, tmp_path: Path) -> None:
    assert main(["--out", str(tmp_path), "--consumer", "wrong", *ARGUMENTS], TOYS) == 0
    again = result_of(read_results(tmp_path / "scoreboard.json"), "wrong")
    first = result_of(read_results(out / "scoreboard.json"), "wrong")
    assert msgspec.json.encode(again) == msgspec.json.encode(first)


def test_what_did_not_run_is_named_with_what_it_needs(board: Scoreboard) -> None:
    needs = {result.name: result.needs for result in board.consumers if not result.ran}
    assert needs == {"absent": "its jar is missing", **{each.name: each.needs for each in NOT_STARTED}}


class Links(HTMLParser):
    """The anchors and the links of a page.

    :ivar tags: names of its elements.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids, self.links, self.tags = set[str](), set[str](), set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.add(str(value))
            elif name == "href":
                self.links.add(str(value).removeprefix("#"))


def test_each_red_cell_opens_its_history(out: Path, board: Scoreboard) -> None:
    text = (out / "scoreboard.html").read_text("utf-8")
    links = Links(text)
    red = {
        f"{result.name}.{name}"
        for result in board.consumers
        for name, cell in result.cells.items()
        if cell.failed
    }
    assert links.links == red <= links.ids
    assert "toy &lt;1&gt;" in text
    assert not {"script", "1"} & links.tags


def test_results_of_further_consumers_join_the_stored_ones(board: Scoreboard) -> None:
    right = result_of(board, "right")
    changed = msgspec.structs.replace(right, cells={"decode": Cell(passed=1)})
    gone = msgspec.structs.replace(result_of(board, "wrong"), ran=False, cells={})
    later = Scoreboard(seed=board.seed, examples=board.examples, consumers=[changed, gone])
    joined = merged(board, later)
    assert [result.name for result in joined.consumers] == [result.name for result in board.consumers]
    assert result_of(joined, "right") == changed
    assert result_of(joined, "wrong") == result_of(board, "wrong")
    assert merged(None, later) == later


@pytest.mark.parametrize("partial", [["--trap", "duplicate-event"], ["--filter", "*"], ["--examples", "3"]])
def test_a_part_of_the_results_is_not_stored(partial: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path), "--record", *partial], TOYS)
    assert [*tmp_path.iterdir()] == []


CANAL = {
    "type": "UPDATE", "mysqlType": {"id": "int", "e": "enum('a','b')"},
    "data": [{"id": "1", "e": "2"}], "old": [{"e": "1"}],
}  # fmt: skip
CHANGES = [{"kind": "-U", "row": {"id": "1", "e": "1"}}, {"kind": "+U", "row": {"id": "1", "e": "2"}}]


def test_rows_of_a_parser_are_put_back_into_the_message() -> None:
    assert FORMATS["flink-canal-json"].restored(CANAL, CHANGES) == CANAL
    other = [CHANGES[0], {"kind": "+U", "row": {"id": "1", "e": "x"}}]
    assert FORMATS["flink-canal-json"].restored(CANAL, other) != CANAL
    assert FORMATS["flink-canal-json"].restored(CANAL, []) is None


def test_paimons_members_become_their_numbers() -> None:
    members = [{"kind": kind, "row": {"id": "1", "e": member}} for kind, member in (("-D", "a"), ("+I", "b"))]
    assert FORMATS["paimon-canal"].restored(CANAL, members) == CANAL


def test_texts_have_the_types_of_the_message() -> None:
    sent = {
        "payload": {"op": "c", "before": None, "after": {"i": 2, "d": 1.5, "b": True, "s": "x", "n": None}}
    }
    row = {"i": "2", "d": "1.5", "b": "true", "s": "x", "n": None}
    assert FORMATS["flink-debezium-json"].restored(sent, [{"kind": "+I", "row": row}]) == sent


def test_the_first_object_of_a_message_is_its_body() -> None:
    assert body_of(b'{"type":"insert"}\n{"type":"update"}') == {"type": "insert"}
    with pytest.raises(ValueError, match="not an object"):
        body_of(b"1")


def test_the_stored_results_have_many_consumers_and_short_histories() -> None:
    board = read_results()
    ran = [result for result in board.consumers if result.ran]
    assert len(ran) >= LEAST_CONSUMERS
    assert {result.name for result in ran} <= {consumer.name for consumer in CONSUMERS}
    for result in ran:
        assert any(cell.passed or cell.failed for cell in result.cells.values())
        for cell in result.cells.values():
            assert not cell.failed or cell.causes or cell.histories
            for history in cell.histories:
                statements = [text for text in history.statements if text not in BRACKETS]
                assert len(statements) <= MOST_STATEMENTS, f"{result.name}: {history.name}"
    assert len(page(board)) < 10 * RESULTS.stat().st_size


@pytest.mark.slow
@pytest.mark.parametrize("name", [result.name for result in read_results().consumers if result.ran])
def test_a_consumer_has_the_stored_results(name: str, tmp_path: Path) -> None:
    """The corpus again, and a few histories."""
    stored = result_of(read_results(), name)
    arguments = ["--out", str(tmp_path), "--consumer", name, "--examples", "5", "--trap", "duplicate-event"]
    assert main(arguments) == 0
    again = result_of(read_results(tmp_path / "scoreboard.json"), name)
    if not again.ran:
        pytest.skip(f"not run: {again.needs}")
    for level in ("decode", "apply", "restart"):
        assert again.cells[level] == stored.cells[level], json.dumps(level)
