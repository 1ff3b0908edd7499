"""Runs a command line as a shell would, but in this process, which has a Spark session."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from ticdc_producer.cli import main


@dataclass(frozen=True)
class Outcome:
    """Exit code and output of a command."""

    exit_code: int
    out: str
    err: str


def run(line: str) -> Outcome:
    """Run a line: ``ticdc-producer …``, also after ``cat FILE |``, and with ``> FILE`` at its end."""
    words = shlex.split(line, comments=True)
    source = words[1] if words[0] == "cat" else os.devnull
    words = words[words.index("|") + 1 :] if "|" in words else words
    words, target = (words[:-2], Path(words[-1])) if ">" in words else (words, None)
    out, err = io.StringIO(), io.StringIO()
    with _standard_input(source), redirect_stdout(out), redirect_stderr(err):
        exit_code = main(words[1:])
    if target is not None:
        target.write_text(out.getvalue(), "utf-8")
    return Outcome(exit_code, out.getvalue(), err.getvalue())


@contextmanager
def _standard_input(path: str) -> Iterator[None]:
    """Replaces descriptor 0 itself, because ``decode -`` opens it by its number."""
    before = os.dup(0)
    with Path(path).open("rb") as file:
        os.dup2(file.fileno(), 0)
    try:
        yield
    finally:
        os.dup2(before, 0)
        os.close(before)
