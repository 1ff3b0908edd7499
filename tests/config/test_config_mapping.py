"""The changefeed file as a mapping: ``config={"sink": {…}}`` in place of a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli_w

import ticdc_producer
from ticdc_producer.errors import ChangefeedError

CONTENT: dict[str, Any] = {
    "sink": {"protocol": "canal-json", "dispatchers": [{"matcher": ["*.*"], "partition": "ts"}]}
}


def _script(folder: Path) -> Path:
    path = folder / "t.sql"
    path.write_text("CREATE TABLE test.t (id INT PRIMARY KEY); INSERT INTO test.t VALUES (1);")
    return path


def test_a_mapping_and_a_file_give_the_same_run(tmp_path: Path) -> None:
    file = tmp_path / "changefeed.toml"
    file.write_text(tomli_w.dumps(CONTENT))
    for name, config in (("file", file), ("mapping", CONTENT)):
        ticdc_producer.run(_script(tmp_path), config=config, out=tmp_path / name)
    first, second = ((tmp_path / name / "messages.jsonl").read_bytes() for name in ("file", "mapping"))
    assert first == second
    assert b"canal" in (tmp_path / "mapping" / "manifest.json").read_bytes()


def test_an_error_names_the_argument(tmp_path: Path) -> None:
    with pytest.raises(ChangefeedError, match=r"unknown key 'sink\.protocl'") as caught:
        ticdc_producer.run(_script(tmp_path), config={"sink": {"protocl": "avro"}}, dry_run=True)
    assert caught.value.where == "`config`"
    with pytest.raises(ChangefeedError, match="has no key 'sink-uri'"):
        ticdc_producer.run(_script(tmp_path), config={"sink-uri": "kafka:///t"}, dry_run=True)
    rule = {"matcher": ["*.*"], "partition": "columns", "columns": ["nowhere"]}
    with pytest.raises(ChangefeedError, match="nowhere") as caught:
        ticdc_producer.run(_script(tmp_path), config={"sink": {"dispatchers": [rule]}}, dry_run=True)
    assert "`config`" in str(caught.value)


@pytest.mark.parametrize(
    ("config", "what"),
    [
        ([1], "a changefeed file or a mapping with its content, not a list"),
        (7, "a changefeed file or a mapping with its content, not a int"),
        ('[sink]\nprotocol="avro"', "this is the text of a changefeed file, not its path"),
    ],
)
def test_other_configs_are_refused_by_name(config: Any, what: str) -> None:
    with pytest.raises(ChangefeedError) as error:
        ticdc_producer.run("seed_t1", config=config, dry_run=True)
    assert what in str(error.value)
    assert "`config`" in str(error.value)
