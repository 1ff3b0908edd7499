"""The lock file, and downloading the jars that it names."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from ticdc_producer.errors import BrokerError
from ticdc_producer.kafka.embedded.jars import Jar, jars, locked

CONTENTS = {f"part-{number}": b"jar %d " % number * 5000 for number in range(12)}
LOCK = [Jar("org.example", name, "1.0", hashlib.sha256(data).hexdigest()) for name, data in CONTENTS.items()]


class Repository:
    """A Maven repository on this machine that counts requests by path."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.requests: Counter[str] = Counter()
        self.url = ""
        for jar in LOCK:
            (root / jar.path).parent.mkdir(parents=True)
            (root / jar.path).write_bytes(CONTENTS[jar.artifact])

    @contextmanager
    def served(self) -> Iterator[Repository]:
        repository = self

        class Handler(SimpleHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                repository.requests[self.path] += 1

        with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(self.root))) as server:
            self.url = f"http://127.0.0.1:{server.server_port}/"
            thread = Thread(target=server.serve_forever, args=[0.01])
            thread.start()
            yield self
            server.shutdown()
            thread.join()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    with Repository(tmp_path / "repository").served() as repository:
        monkeypatch.setenv("TICDC_PRODUCER_MAVEN_URL", repository.url)
        yield repository


def test_the_lock_file_is_well_formed() -> None:
    lock = locked()
    assert all(re.fullmatch("[0-9a-f]{64}", jar.sha256) for jar in lock)
    assert len({jar.name for jar in lock}) == len(lock), "names must differ: they share one folder"
    assert [str(jar) for jar in lock] == sorted(str(jar) for jar in lock)
    assert {"kafka_2.13", "kafka-server", "log4j-core", "log4j-slf4j-impl"} <= {jar.artifact for jar in lock}
    kafka = {jar.version for jar in lock if jar.group == "org.apache.kafka"}
    assert len(kafka) == 1, "all of Kafka is of one version"


def test_a_jar_has_a_path_in_a_maven_repository() -> None:
    jar = Jar.parse("org.apache.kafka:kafka_2.13:4.3.1 " + "0" * 64)
    assert jar.path == "org/apache/kafka/kafka_2.13/4.3.1/kafka_2.13-4.3.1.jar"


def fetched(cache: Path | None = None) -> list[Path]:
    """The jars of the test's lock, in a folder."""
    return jars(cache, lock=LOCK, retries=0)


def test_jars_are_fetched_once_and_then_used_without_network(
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = fetched(tmp_path / "cache")
    assert [path.read_bytes() for path in paths] == list(CONTENTS.values())
    assert set(repository.requests.values()) == {1}
    output = capsys.readouterr()
    assert output.err.count("\n") == 1
    assert f"12 jars) from {repository.url.rstrip('/')}" in output.err
    monkeypatch.setenv("TICDC_PRODUCER_MAVEN_URL", "http://127.0.0.1:9/")
    assert fetched(tmp_path / "cache") == paths
    assert capsys.readouterr() == ("", "")


def test_the_cache_folder_is_a_setting(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path / "chosen"))
    assert {path.parent for path in fetched()} == {tmp_path / "chosen" / "jars"}


def test_a_damaged_jar_in_the_cache_is_fetched_again(repository: Repository, tmp_path: Path) -> None:
    damaged = fetched(tmp_path / "cache")[3]
    damaged.write_bytes(b"half")
    assert fetched(tmp_path / "cache")[3].read_bytes() == CONTENTS["part-3"]


@pytest.mark.parametrize("cached", [False, True])
def test_a_wrong_sum_is_an_error_and_leaves_no_file(
    repository: Repository, tmp_path: Path, cached: bool
) -> None:
    cache = tmp_path / "cache"
    if cached:
        fetched(cache)[5].write_bytes(b"damaged")
    (repository.root / LOCK[5].path).write_bytes(b"something else")
    with pytest.raises(BrokerError, match=r"part-5-1.0.jar does not match the checksum in the lock file"):
        fetched(cache)
    assert not (cache / LOCK[5].name).exists()
    assert all(path.suffix == ".jar" for path in cache.iterdir()), "an unfinished file was left"


def test_an_unreachable_repository_is_an_error_that_names_the_setting(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_MAVEN_URL", "http://127.0.0.1:9")
    with pytest.raises(BrokerError, match="TICDC_PRODUCER_MAVEN_URL"):
        fetched(tmp_path / "cache")


def test_a_jar_that_the_repository_has_not_is_an_error(repository: Repository, tmp_path: Path) -> None:
    (repository.root / LOCK[0].path).unlink()
    with pytest.raises(BrokerError, match="404"):
        fetched(tmp_path / "cache")


def test_a_setting_that_is_no_url_is_an_error(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICDC_PRODUCER_MAVEN_URL", "repo.example.org")
    with pytest.raises(BrokerError, match=r"repo\.example\.org"):
        fetched(tmp_path / "cache")


def test_a_cache_that_cannot_be_written_is_an_error(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BrokerError, match="TICDC_PRODUCER_CACHE"):
        fetched(tmp_path / "file" / "cache")


def test_a_failed_transfer_is_tried_again(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar_file = repository.root / LOCK[0].path
    jar_file.rename(jar_file.with_suffix(".away"))
    # The pause before the second try is when the file comes back; pooch alone has it: Spark sleeps, too.
    pause = SimpleNamespace(sleep=lambda _: jar_file.with_suffix(".away").rename(jar_file))
    monkeypatch.setattr("pooch.core.time", pause)
    assert jars(tmp_path / "cache", lock=LOCK, retries=1)[0].read_bytes() == CONTENTS["part-0"]


FETCH = """
import sys
from pathlib import Path
module = __import__("ticdc_producer.kafka.embedded.jars", fromlist=["jars"])
lock = [module.Jar.parse(line) for line in sys.argv[2:]]
print(len(module.jars(Path(sys.argv[1]), lock=lock)))
"""


def test_processes_may_fetch_at_the_same_time(repository: Repository, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    command = [sys.executable, "-c", FETCH, str(cache), *map(str, LOCK)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(3)]
    assert [process.communicate(timeout=60)[0].strip() for process in running] == [b"12"] * 3
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == {
        jar.name: CONTENTS[jar.artifact] for jar in LOCK
    }
