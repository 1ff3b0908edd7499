"""Fixtures of the tests of golden files with large messages."""

from __future__ import annotations

import pytest

from tests.protocols.large_messages import LargeFile, golden_compressor
from ticdc_producer.protocols.compression import COMPRESSORS


@pytest.fixture
def compressor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compress like the library that wrote the test's file."""
    file: LargeFile = request.node.callspec.params["file"]
    if file.compression != "none":
        monkeypatch.setitem(COMPRESSORS, file.compression, golden_compressor(file))
