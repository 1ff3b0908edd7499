"""The session of the README: its first command and the output.

``python -m tests.docs.readme_session`` runs the command and updates the output.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
COMMAND = ("run", "seed_t1")
_SESSION = re.compile(r"(?<=^```\n)ran seed_t1 .*?^verified\n(?=^```$)", re.DOTALL | re.MULTILINE)
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")


def with_fixed_port(printed: str) -> str:
    """A command's output with the port of the README: the broker's port changes each time."""
    return _PORT.sub("40033", printed)


def documented_output() -> str:
    """The output of the first command as the README has it."""
    match = _SESSION.search(README.read_text("utf-8"))
    assert match is not None
    return match[0]


def main() -> None:
    """Update the session."""
    done = subprocess.run(
        [sys.executable, "-m", "ticdc_producer", *COMMAND], capture_output=True, text=True, check=True
    )
    page = README.read_text("utf-8")
    README.write_text(_SESSION.sub(lambda _: with_fixed_port(done.stdout), page), "utf-8")


if __name__ == "__main__":
    main()
