"""Column flags that contradict themselves, the type or the value are an error without a scenario, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verifier.changed_messages import findings_of

FLAGS = [
    (b'"name":{"t":15,"f":0', b'"name":{"t":15,"f":128', "name: varchar with the flag unsigned"),
    (b'"t":3,"h":true,"f":11', b'"t":3,"h":true,"f":75', "id: a nullable primary key or handle key"),
    (b'"t":3,"h":true,"f":11', b'"t":3,"h":true,"f":10', "id: int without the flag binary"),
    (
        b'"t":3,"h":true,"f":11',
        b'"t":3,"h":true,"f":3',
        "id: a handle key that is not a primary or unique key",
    ),
    (b'"t":13,"f":193', b'"t":13,"f":65', "born: year without the flag unsigned"),
    (b'"t":13,"f":193', b'"t":13,"f":0', "born: year without the flag unsigned"),
    (b'"t":3,"h":true,"f":11', b'"t":3,"h":true,"f":331', "id: unknown bits"),
    (b'"t":252,"f":64', b'"t":252,"f":0', "note: NULL in a column that is not nullable"),
]


@pytest.mark.parametrize(("old", "new", "detail"), FLAGS)
def test_flags_against_type_and_value_are_an_error(
    tmp_path: Path, old: bytes, new: bytes, detail: str
) -> None:
    def changed(value: bytes) -> bytes:
        body = value[8:].replace(old, new)  # a frame begins with its length
        return len(body).to_bytes(8) + body if value else value

    options = "protocol=open-protocol&max-batch-size=1"
    assert not findings_of(tmp_path, options)
    finding = findings_of(tmp_path, options, changed)["INV-FLAGS"]
    assert finding.severity == "error"
    assert detail in finding.examples[0].detail
    # The new architecture keeps flags of an earlier version of the table.
    of_new = findings_of(tmp_path, f"{options}&profile=new", changed)
    expected = {} if new.endswith(b'"f":0') else {"INV-FLAGS": "warning"}
    assert {name: finding.severity for name, finding in of_new.items()} == expected
