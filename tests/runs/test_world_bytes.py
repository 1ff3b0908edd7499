"""SQL in, TiCDC's own bytes out: the files of ``tests/golden/world``, message by message.

``min`` has minimal statements, one or a few for each rule; ``run`` has schemas of applications, ``full``
random expressions. ``DIFFERENT`` lists the files with other messages, and why; one without may not be
listed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_events import GOLDEN
from tests.protocols.golden_messages import load_messages
from tests.sql_messages import messages_of

WORLD = GOLDEN / "world"
OPTIONS = {
    "open": "protocol=open-protocol&batch-by=partition",
    "simple.json": "protocol=simple",
    "debezium": "protocol=debezium&output-ddl=true",
}
DIGIT = "the last digit of LOG10(3)"
YEAR = "lengths of YEAR and times in the DDL of the column, which the other golden files have otherwise"
DIFFERENT = {
    **dict.fromkeys(("min/m1.open", "min/m1.debezium"), DIGIT),
    "min/m1.simple.json": f"{DIGIT}; {YEAR}",
    "min/m2.simple.json": YEAR,
}
FILES = sorted(
    path.relative_to(WORLD).as_posix().removesuffix(".jsonl")
    for variant in OPTIONS
    for path in WORLD.glob(f"*/*.{variant}.jsonl")
)
FAST = ("min/", "run/world06.open", "full/probe09.open")


@pytest.mark.parametrize(
    "name", [name if name.startswith(FAST) else pytest.param(name, marks=pytest.mark.slow) for name in FILES]
)
def test_messages_are_ticdcs_bytes(tmp_path: Path, name: str) -> None:
    stem, _, variant = name.partition(".")
    script = (WORLD / f"{stem}.sql").read_text("utf-8")
    golden = [message for message in load_messages(WORLD / f"{name}.jsonl") if not message.error]
    theirs = [(message.key or b"", message.value or b"") for message in golden]
    sent = messages_of(tmp_path, script, OPTIONS[variant])
    ours = [message for message in sent if b'"type":"BOOTSTRAP"' not in message[1]]
    assert (ours == theirs) == (name not in DIFFERENT), DIFFERENT.get(name)
