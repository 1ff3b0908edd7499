"""The examples of docs/python.md run."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.docs.markdown import FENCED

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
EXAMPLES = [text for language, text in FENCED.findall(PAGE.read_text("utf-8")) if language == "python"]


@pytest.mark.parametrize("example", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_runs(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> None:
    """An example that asks for a session gets that of the tests."""
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(PAGE), "exec"), {})
