"""Compares the SQL engine with a TiDB server for tests, whose databases are dropped.

    tidb-server                                             # without arguments it holds its rows in memory
    python -m tools.tidb compare FILE.sql                   # one statement per line
    python -m tools.tidb add AREA NAME FILE.sql             # a case for tests/scenario/sql/tidb_cases
    python -m tools.tidb mutate AREA … --seed 1 --count 500 # mutations of recorded cases; default: all areas

A line from BEGIN to COMMIT is one statement, whose first error ends it with a ROLLBACK. The exit code is 1 if
something differs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random

from tests.scenario.sql.tidb_results import AREAS, CASES, Case, outcome_of
from tools.tidb.mutations import Mutator
from tools.tidb.server import OtherDatabases, Server

_URL = "mysql://root@127.0.0.1:4000"


def statements_of(file: Path) -> list[str]:
    """Return the statements of a file, one per line, without comments."""
    lines = map(str.strip, file.read_text("utf-8").splitlines())
    return [line.rstrip(";") for line in lines if line and not line.startswith("--")]


def differences(case: Case) -> Iterator[str]:
    """Yield a case, and what differs in it; nothing if it ends here as in TiDB."""
    outcome = outcome_of(case)
    if outcome.refused or outcome.differences:
        yield f"{case.name}:"
        yield from (f"  {code or 'ok':>5} {statement}" for statement, code in case.statements)
        yield from (f"  not supported: {error}" for error in outcome.refused)
        yield from (f"  differs: {difference}" for difference in outcome.differences)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the differences, and return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with Server(options.server) as server:
            if options.command == "mutate":
                return _mutate(server, options.areas or AREAS, options.seed, options.count)
            name = options.name if options.command == "add" else options.file.stem
            case = server.case(name, statements_of(options.file))
    except OtherDatabases as error:
        sys.exit(str(error))
    lines = [*differences(case)]
    if not lines and options.command == "add":
        with (CASES / f"{options.area}.jsonl").open("a", encoding="utf-8") as cases:
            cases.write(json.dumps(asdict(case), ensure_ascii=False, separators=(",", ":")) + "\n")
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return int(bool(lines))


def _mutate(server: Server, areas: Sequence[str], seed: int, count: int) -> int:
    mutators = [Mutator(area, Random(f"{seed} {area}")) for area in areas]  # noqa: S311  # the same for a seed
    number = 0
    for index in range(count):
        area = areas[index % len(areas)]
        case = server.case(f"{area} {seed}.{index}", mutators[index % len(areas)].script())
        lines = [*differences(case)]
        number += bool(lines)
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
    sys.stdout.write(f"{number} of {count} differ\n")
    return int(number > 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.tidb",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--server", default=_URL, metavar="URL", help=f"default: {_URL}")
    commands = parser.add_subparsers(dest="command", required=True)
    compare = commands.add_parser("compare")
    add = commands.add_parser("add")
    add.add_argument("area", choices=AREAS, metavar="AREA")
    add.add_argument("name", metavar="NAME")
    for command in (compare, add):
        command.add_argument("file", type=Path, metavar="FILE.sql")
    mutate = commands.add_parser("mutate")
    mutate.add_argument("areas", nargs="*", metavar="AREA", help=f"of {', '.join(AREAS)}")
    mutate.add_argument("--seed", type=int, default=1)
    mutate.add_argument("--count", type=int, default=500)
    return parser


if __name__ == "__main__":
    sys.exit(main())
