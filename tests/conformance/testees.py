"""Testees with one particular behaviour each."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_LOOP = """
import json, os, sys, time
def answer(**line):
    print(json.dumps(line), flush=True)
for line in sys.stdin:
    request = json.loads(line)
    if "hello" in request:
        answer(hello=1)
        continue
    case = request["case"]
{body}
{last}
"""


def answering(folder: Path, body: str, *, last: str = "") -> str:
    """The command of a testee that greets, and then runs some lines for each request.

    :param body: lines that use ``request`` and ``case``, and call ``answer``.
    :param last: code that runs after its input has ended.
    """
    indented = "".join(f"    {line}\n" for line in body.strip().splitlines())
    return program(folder, _LOOP.format(body=indented, last=last))


def program(folder: Path, text: str) -> str:
    """The command of a Python program."""
    path = folder / "testee.py"
    path.write_text(text, "utf-8")
    return shlex.join([sys.executable, str(path)])
