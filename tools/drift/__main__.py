"""Lists what a checkout of pingcap/ticdc has and the tables of this project do not know.

    python -m tools.drift CHECKOUT                   # exit code 1 if there is anything to list
    python -m tools.drift CHECKOUT --record COMMIT   # after the changed encoder files were read

CHECKOUT is a work tree, or a folder that ``git archive COMMIT | tar x -C FOLDER`` filled.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.drift.checkout import SUBJECTS, Checkout
from tools.drift.record import RECORDED, Record, hashes, read_record
from tools.drift.tables import TABLES


@dataclass(frozen=True, slots=True)
class Comparison:
    """One subject in which a checkout is compared with this project.

    :param subject: what is compared.
    :param count: how much the checkout has of it.
    :param differences: what this project does not know, or what changed.
    """

    subject: str
    count: int
    differences: Sequence[str]


def comparisons(checkout: Checkout, record: Record) -> Iterator[Comparison]:
    """Compare a checkout with the tables of this project, and with the recorded encoder files."""
    for subject, names_in in SUBJECTS.items():
        names = names_in(checkout)
        yield Comparison(subject, len(names), sorted({*names} - TABLES[subject]()))
    files = hashes(checkout.folder, checkout.encoder_files())
    yield Comparison("encoder files", len(files), list(record.changes(files)))


def main(arguments: Sequence[str] | None = None, recorded: Path = RECORDED) -> int:
    """Print the differences, and return the exit code.

    :param recorded: the file of the record.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.drift",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("checkout", type=Path, metavar="CHECKOUT")
    parser.add_argument("--record", metavar="COMMIT", help="record the encoder files as those of this commit")
    options = parser.parse_args(arguments)
    if not (options.checkout / "go.mod").is_file():
        parser.error(f"{options.checkout} has no go.mod: it is not the root of a checkout with its files")
    checkout = Checkout(options.checkout)
    if options.record:
        return _record(checkout, options.record, recorded)
    return _report(checkout, read_record(recorded))


def _record(checkout: Checkout, commit: str, recorded: Path) -> int:
    files = hashes(checkout.folder, checkout.encoder_files())
    if checkout.missing:
        _print_missing(checkout)
        return 1
    Record(commit, files).write(recorded)
    print(f"recorded {len(files)} encoder files of {commit}")
    return 0


def _report(checkout: Checkout, record: Record) -> int:
    compared = list(comparisons(checkout, record))
    for comparison in compared:
        verb = "changed" if comparison.subject == "encoder files" else "unknown"
        print(f"{comparison.subject:<24} {comparison.count:>4}, {len(comparison.differences)} {verb}")
        for difference in comparison.differences:
            print(f"  {difference}")
    _print_missing(checkout)
    if compared[-1].differences:
        print(f"what changed in a file: git diff {record.commit} HEAD -- PATH")
    return 1 if checkout.missing or any(comparison.differences for comparison in compared) else 0


def _print_missing(checkout: Checkout) -> None:
    for what in checkout.missing:
        print(f"missing: {what}; it moved, or it is written in another way (tools/drift/checkout.py)")


if __name__ == "__main__":
    sys.exit(main())
