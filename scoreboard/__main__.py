"""Measures consumers of other projects: ``python -m scoreboard --out DIR``.

It writes ``scoreboard.json`` and ``scoreboard.html``. ``--record`` stores the results for docs/consumers.md;
``python -m tests.docs.generated_tables`` then writes the page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from scoreboard.consumers import CONSUMERS, NOT_STARTED, Consumer
from scoreboard.measure import Extent, measure, not_run
from scoreboard.page import cell_text, page
from scoreboard.results import RESULTS, ConsumerResult, Scoreboard, merged, read_results, write_results


def main(arguments: Sequence[str] | None = None, consumers: Sequence[Consumer] = CONSUMERS) -> int:
    """Run the command; return its exit code: 0, even if consumers fail."""
    parser = _parser(consumers)
    options = parser.parse_args(arguments)
    if options.record and (options.filter or options.trap):
        parser.error("--record stores whole results: leave out --filter and --trap")
    extent = Extent(
        examples=options.examples, seed=options.seed, globs=tuple(options.filter), traps=tuple(options.trap)
    )
    stored = read_results() if options.record and RESULTS.exists() else None
    if stored is not None and (stored.seed, stored.examples) != (options.seed, options.examples):
        parser.error(f"{RESULTS.name} has --seed {stored.seed} --examples {stored.examples}")
    options.out.mkdir(parents=True, exist_ok=True)
    results: list[ConsumerResult] = []
    not_started = [not_run(consumer) for consumer in NOT_STARTED]
    for consumer in consumers:
        if options.consumer and consumer.name not in options.consumer:
            continue
        results.append(measure(consumer, extent))
        sys.stderr.write(f"{line(results[-1])}\n")
        board = Scoreboard(seed=options.seed, examples=options.examples, consumers=[*results, *not_started])
        if options.record:  # after each consumer, because one takes hours
            board = merged(stored, board)
            write_results(RESULTS, board)
        write_results(options.out / "scoreboard.json", board)
        (options.out / "scoreboard.html").write_text(page(board), "utf-8")
    return 0


def line(result: ConsumerResult) -> str:
    """Return the cells of a consumer as text."""
    cells = ", ".join(f"{name} {cell_text(cell)}" for name, cell in result.cells.items())
    return f"{result.name}: {cells or f'not run: {result.needs}'}"


def _parser(consumers: Sequence[Consumer]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scoreboard", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of the page and of the JSON")
    parser.add_argument(
        "--consumer",
        action="append",
        choices=[consumer.name for consumer in consumers],
        help="only this consumer; repeatable",
    )
    parser.add_argument("--examples", type=int, default=500, help="random histories of each consumer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--filter", action="append", default=[], help="only cases of the corpus that match this glob"
    )
    parser.add_argument("--trap", action="append", default=[], help="only this legal trap; repeatable")
    parser.add_argument("--record", action="store_true", help=f"store the results in {RESULTS.name}, too")
    return parser


if __name__ == "__main__":
    sys.exit(main())
