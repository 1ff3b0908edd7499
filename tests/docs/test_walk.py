"""The walk of a DECIMAL in docs/design.md names functions that exist, and is short."""

from __future__ import annotations

import re

from tests.docs.generated_tables import DOCS

_STOP = re.compile(r"^\| \d+ \| `(\w+)` in `(producer/[^`]+)` \|", re.MULTILINE)


def test_each_stop_is_a_function_of_its_module() -> None:
    _, out, back = re.split(
        "^### One DECIMAL.*|^And back:", (DOCS / "design.md").read_text("utf-8"), flags=re.M
    )
    stops_out, stops_back = _STOP.findall(out), _STOP.findall(back.partition("\n## ")[0])
    assert 0 < len(stops_out) <= 22
    assert 0 < len(stops_back) <= 10
    for function, path in stops_out + stops_back:
        module = (DOCS.parent / path).read_text("utf-8")
        assert re.search(rf"^ *def {function}\(", module, re.MULTILINE), (function, path)
