"""The session of the README: its first command, and what that prints.

``python -m tests.docs.readme_session`` runs it and writes it anew.
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


def shown(printed: str) -> str:
    """What a command printed, as the README shows it: the broker's port is another each time."""
    return _PORT.sub("40033", printed)


def told() -> str:
    """What the README says that its first command prints."""
    found = _SESSION.search(README.read_text("utf-8"))
    assert found is not None
    return found[0]


def main() -> None:
    """Write the session anew."""
    done = subprocess.run(
        [sys.executable, "-m", "ticdc_producer", *COMMAND], capture_output=True, text=True, check=True
    )
    page = README.read_text("utf-8")
    README.write_text(_SESSION.sub(lambda _: shown(done.stdout), page), "utf-8")


if __name__ == "__main__":
    main()
