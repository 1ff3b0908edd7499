"""Storages for which something is missing on this machine."""

from __future__ import annotations

import pytest

from producer.changefeed import file_system
from producer.errors import ChangefeedError


@pytest.mark.parametrize("error", [OSError, ImportError, ValueError])
def test_what_is_missing_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def refuse(_uri: str) -> None:
        raise error("Unable to load libhdfs\ndlopen(libhdfs.so) failed")

    monkeypatch.setattr(file_system, "url_to_fs", refuse)
    with pytest.raises(ChangefeedError) as refused:
        file_system.file_system("hdfs://h/d", "sink-uri")
    assert str(refused.value).startswith("no file system for 'hdfs://h/d': Unable to load libhdfs (")
