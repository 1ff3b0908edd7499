"""The storage sink and claim-check objects on S3, as moto serves it to processes of the command."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from ticdc_producer.config.storage import file_system
from ticdc_producer.kafka.embedded import EmbeddedKafka
from ticdc_producer.targets.storage.read import list_storage

MISSING = [name for name in ("s3fs", "moto", "flask") if find_spec(name) is None]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING), reason=f"not run: no {', no '.join(MISSING)}; they come with s3fs and moto[server]"
    ),
]
SECRET = "not-to-be-printed"
LARGE = f"""CREATE TABLE test.large (id INT PRIMARY KEY, v TEXT);
INSERT INTO test.large VALUES (1, 'short'), (2, '{"x" * 2000}');
"""


@dataclass(frozen=True)
class Store:
    """A server, and the environment in which the command finds it."""

    address: str
    key: str = "testing"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command, environment = (
            [sys.executable, "-m", "ticdc_producer", *arguments],
            {**os.environ, **self.environment},
        )
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    def passes(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refuses(self, code: int, part: str, *arguments: str) -> None:
        done = self.run(*arguments)
        assert (done.returncode, done.stdout) == (code, "")
        (message,) = done.stderr.splitlines()
        assert message.startswith("ticdc-producer: ")
        assert part in message
        assert SECRET not in message

    def objects(self, location: str) -> list[str]:
        from s3fs import S3FileSystem

        system = S3FileSystem(endpoint_url=self.address, key=self.key, secret=SECRET)
        return list(system.find(location))


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    from moto.server import ThreadedMotoServer
    from s3fs import S3FileSystem

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    store = Store(f"http://{host}:{port}")
    for bucket in ("bucket", "whole"):
        S3FileSystem(endpoint_url=store.address, key=store.key, secret=SECRET).mkdir(bucket)
    yield store
    server.stop()


@pytest.mark.parametrize(
    ("scenario", "location", "protocol"),
    [("seed_t1", "bucket/deep/seed", "csv"), ("ddl-mix", "whole", "canal-json")],
)
def test_a_run_is_written_and_verified(store: Store, scenario: str, location: str, protocol: str) -> None:
    uri = f"s3://{location}?protocol={protocol}"
    store.passes("run", scenario, "--sink-uri", uri)
    written = store.objects(location)
    assert f"{location}/metadata" in written
    store.passes("verify", "--sink-uri", uri, "--scenario", scenario)
    assert "ERROR" not in store.passes("decode", "--sink-uri", uri)
    store.refuses(2, "is not empty", "run", scenario, "--sink-uri", uri)
    assert store.objects(location) == written


def test_an_empty_object_is_a_finding(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    system, folder = file_system("s3://bucket/empty", "sink-uri")
    system.pipe_file(f"{folder}/metadata", b"")
    (problem,) = list_storage("s3://bucket/empty", "csv").problems
    assert problem.path == "metadata"


def test_claim_check_objects(store: Store, kafka: EmbeddedKafka, tmp_path: Path) -> None:
    (tmp_path / "large.sql").write_text(LARGE)
    uri = f"kafka://{kafka.bootstrap}/claims?protocol=open-protocol&max-message-bytes=1000"
    (tmp_path / "feed.toml").write_text(
        "[sink.kafka-config.large-message-handle]\n"
        'large-message-handle-option = "claim-check"\n'
        'claim-check-storage-uri = "s3://bucket/claims"\n'
    )
    options = ("--sink-uri", uri, "--config", str(tmp_path / "feed.toml"))
    store.passes("run", str(tmp_path / "large.sql"), *options)
    assert len(store.objects("bucket/claims")) == 1
    assert "x" * 2000 in store.passes("decode", *options, "--format", "jsonl")


COMMANDS = (("run", "seed_t1"), ("verify",), ("decode",))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_bucket_is_an_error_and_not_created(store: Store, command: tuple[str, ...]) -> None:
    uri = "s3://misspelt/p?protocol=csv"
    store.refuses(3, "The specified bucket does not exist", *command, "--sink-uri", uri)
    with pytest.raises(FileNotFoundError):
        store.objects("misspelt")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_address_at_which_nobody_answers(store: Store, command: tuple[str, ...]) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        deaf = replace(store, address=f"http://127.0.0.1:{unused.getsockname()[1]}")
    deaf.refuses(3, "Could not connect", *command, "--sink-uri", "s3://bucket/p?protocol=csv")


@pytest.mark.parametrize("command", COMMANDS)
def test_credentials_that_are_not_taken(
    store: Store, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    from moto import settings

    with monkeypatch.context() as locked:
        locked.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)  # of the server, which is in this process
        stranger = replace(store, key="AKIASTRANGER")
        stranger.refuses(3, "Forbidden", *command, "--sink-uri", "s3://bucket/q?protocol=csv")
    assert store.objects("bucket/q") == []
