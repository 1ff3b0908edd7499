"""Random schemas: a masked topic and a masked dump have no original value, no broken reference, and agree."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

import pytest
from hypothesis import Phase, given, settings
from pyarrow import parquet

from tests.masks.random_schema import Schema, schemas
from ticdc_producer import Scenario, mask, record, run
from ticdc_producer.masks.rules import KEY_VARIABLE

PROTOCOLS = ["open-protocol", "simple", "canal-json&enable-tidb-extension=true", "craft"]


def state(folder: Path) -> dict[str, list[dict[str, object]]]:
    """The rows of all tables at the end."""
    return {
        path.name: sorted((json.loads(line) for line in path.read_text().splitlines()), key=str)
        for path in sorted((folder / "state").iterdir())
    }


def values(rows: list[dict[str, object]], name: str) -> set[str]:
    return {json.dumps(row[name]) for row in rows}


def contents(folder: Path) -> Iterator[bytes]:
    """The bytes of all files of a folder, as they are and as their readers get them."""
    for path in folder.rglob("*"):
        if path.suffix == ".parquet":
            yield repr(parquet.read_table(path).to_pylist()).encode()
        if path.is_file():
            yield path.read_bytes()


def check(schema: Schema, folder: Path) -> None:
    protocol = PROTOCOLS[schema.seed % len(PROTOCOLS)]
    script = ";\n".join([*schema.definitions, *schema.inserts])
    (folder / "rules.yaml").write_text(schema.rules)
    (folder / "dump.sql").write_text(script)
    uri = f"kafka:///shop?partition-num=3&protocol={protocol}"
    run(Scenario("s").sql(script), sink_uri=uri, out=folder / "golden", engine="local")
    record(folder=folder / "golden", out=folder / "masked" / "recording", mask=folder / "rules.yaml")
    assert run(folder / "masked" / "recording", out=folder / "masked" / "golden", engine="local").ok
    mask(folder / "dump.sql", rules=folder / "rules.yaml", out=folder / "masked" / "dump.sql")
    dump = (folder / "masked" / "dump.sql").read_text()
    assert run(Scenario("s").sql(dump), sink_uri=uri, out=folder / "masked" / "of-dump", engine="local").ok

    rows = state(folder / "masked" / "golden")
    assert rows == state(folder / "masked" / "of-dump")
    original = state(folder / "golden")
    assert {name: len(own) for name, own in rows.items()} == {
        name: len(own) for name, own in original.items()
    }
    for number, table in enumerate(schema.tables):
        own = rows[f"s.t{number}.jsonl"]
        assert len(values(own, "k")) == len(own)
        if table.parent >= 0:
            parents = values(rows[f"s.t{table.parent}.jsonl"], "k")
            assert values(own, f"t{table.parent}_ref") <= parents
    written = [*contents(folder / "masked")]
    visible = [secret for secret in schema.secrets for content in written if secret in content]
    assert not visible


@pytest.fixture(autouse=True)
def key() -> Iterator[None]:
    with mock.patch.dict(os.environ, {KEY_VARIABLE: "a key of the tests"}):
        yield


_PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""Examples are small: to shrink one costs more than to read it."""


@settings(max_examples=4, phases=_PHASES)
@given(schema=schemas())
def test_masked_topics_and_dumps_agree_and_hold_no_original_value(schema: Schema) -> None:
    with TemporaryDirectory() as folder:
        check(schema, Path(folder))


@pytest.mark.slow
@settings(max_examples=50, phases=_PHASES)
@given(schema=schemas())
def test_fifty_masked_schemas_agree_and_hold_no_original_value(schema: Schema) -> None:
    with TemporaryDirectory() as folder:
        check(schema, Path(folder))
