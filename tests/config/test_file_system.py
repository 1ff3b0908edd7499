"""Storages whose library is missing or that fail."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from ticdc_producer.config import storage
from ticdc_producer.config.storage import check_claim_storage
from ticdc_producer.errors import ChangefeedError, FolderError, StorageError
from ticdc_producer.targets.claims import ClaimWriter
from ticdc_producer.targets.storage.read import list_storage
from ticdc_producer.targets.storage.write import check_empty, write_metadata


class BotoCoreError(Exception):
    """As botocore has it: no ``OSError``."""


class Buckets(MemoryFileSystem):
    """An object storage with one bucket, ``existing``."""

    protocol = "s3"
    store: dict[str, object] = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012

    def find(self, path: str, *rest: object, **options: object) -> object:
        if not path.strip("/").startswith("existing"):
            raise FileNotFoundError("The specified bucket does not exist")
        return super().find(path, *rest, **options)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        raise AssertionError(f"the bucket must not be created for {path}")


class Unreachable(MemoryFileSystem):
    """An object storage that cannot be reached."""

    protocol = "s3"
    failure: Exception = BotoCoreError("Could not connect to the endpoint URL:\n http://127.0.0.1:1")

    def exists(self, path: str, **_options: object) -> bool:
        raise self.failure

    def pipe_file(self, path: str, *_rest: object, **_options: object) -> None:
        self.exists(path)


@pytest.mark.parametrize("error", [OSError, ImportError, ValueError])
def test_a_missing_library_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def refuse(_uri: str) -> None:
        raise error("Unable to load libhdfs\ndlopen(libhdfs.so) failed")

    monkeypatch.setattr("fsspec.core.url_to_fs", refuse)
    with pytest.raises(ChangefeedError) as rejected:
        storage.file_system("hdfs://h/d", "sink-uri")
    assert str(rejected.value).startswith("no file system for 'hdfs://h/d': Unable to load libhdfs (")


def _serve(monkeypatch: pytest.MonkeyPatch, system: MemoryFileSystem) -> None:
    monkeypatch.setattr("fsspec.core.url_to_fs", lambda uri: (system, uri.removeprefix("s3://")))


def test_exceptions_of_a_library_are_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    _serve(monkeypatch, Unreachable())
    monkeypatch.setitem(sys.modules, "botocore.exceptions", SimpleNamespace(BotoCoreError=BotoCoreError))
    message = (
        "Could not connect to the endpoint URL: http://127.0.0.1:1 (address and credentials are those of"
    )
    for call, what in (
        (lambda: check_empty("s3://existing/p"), "files cannot be written to s3://existing/p"),
        (lambda: write_metadata("s3://existing/p", 1), "files cannot be written to s3://existing/p"),
        (lambda: list_storage("s3://existing/p", "csv"), "s3://existing/p cannot be read"),
        (lambda: check_claim_storage("s3://existing/p"), "s3://existing/p cannot be reached"),
    ):
        with pytest.raises(StorageError) as error:
            call()
        assert str(error.value).startswith(f"{what}: {message}")


def test_invalid_settings_are_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    system = Unreachable()
    monkeypatch.setattr(system, "failure", ValueError("Invalid endpoint: 127.0.0.1:9000"))
    _serve(monkeypatch, system)
    with pytest.raises(
        StorageError, match=r"^files cannot be written to s3://existing/p: Invalid endpoint: "
    ):
        check_empty("s3://existing/p")


def test_a_missing_bucket_is_refused_and_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    _serve(monkeypatch, Buckets())
    for look in (check_empty, check_claim_storage, lambda uri: list_storage(uri, "csv")):
        with pytest.raises(StorageError, match="The specified bucket does not exist"):
            look("s3://misspelt/p")
    check_empty("s3://existing/p")
    check_claim_storage("s3://existing/p")
    with pytest.raises(FolderError, match="there is no such folder"):
        list_storage("s3://existing/p", "csv")


def test_folders_are_not_made_in_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    system = Buckets()
    _serve(monkeypatch, system)
    write_metadata("s3://existing/p", 5)
    ClaimWriter("s3://existing/claims")
    assert system.find("existing") == ["/existing/p/metadata"]
    with pytest.raises(FolderError, match="not empty"):
        check_empty("s3://existing/p")
