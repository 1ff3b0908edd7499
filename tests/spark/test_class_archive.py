"""The classes of Spark's JVM, kept for later starts."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import cast

import pytest

from ticdc_producer.java import find_java
from ticdc_producer.spark.class_archive import ClassArchive, class_archive


@pytest.fixture
def archive(tmp_path: Path) -> ClassArchive:
    return ClassArchive(tmp_path / "classes" / "spark-0.jsa")


def _java(*arguments: str) -> list[str]:
    return [str(find_java().java), *arguments]


@pytest.fixture
def base_archive() -> None:
    """What a JVM writes builds on the classes that come with Java, which a reduced Java may lack."""
    started = subprocess.run(_java("-Xshare:on", "-version"), capture_output=True, check=False)
    if started.returncode:
        pytest.skip("not run: this Java has no archive to build on")


def test_it_is_written_at_the_second_start(archive: ClassArchive) -> None:
    assert [archive.due() for _ in range(3)] == [False, True, True]
    archive.path.write_bytes(b"")
    assert not archive.due()


def test_a_cache_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "classes").write_bytes(b"in the way")
    archive = ClassArchive(tmp_path / "classes" / "spark-0.jsa")
    assert [archive.due() for _ in range(3)] == [False, False, False]


def test_what_a_failed_run_wrote_is_removed_by_the_next(archive: ClassArchive) -> None:
    archive.due()
    written = archive.path.with_suffix(".1.part")
    written.touch()
    assert archive.due()
    assert not written.exists()


@pytest.mark.usefixtures("base_archive")
def test_a_jvm_starts_with_what_another_has_written(archive: ClassArchive) -> None:
    archive.due()
    interrupted = archive.path.with_suffix(".1.part")
    interrupted.touch()
    jvm = subprocess.Popen(
        _java(archive.writing, "-version"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    archive.put_into_place(jvm)
    assert jvm.returncode == 0
    assert archive.there
    assert not interrupted.exists()
    subprocess.run(_java(archive.reading, "-Xshare:on", "-version"), capture_output=True, check=True)


def test_a_jvm_that_wrote_nothing_leaves_nothing(archive: ClassArchive) -> None:
    archive.due()
    jvm = subprocess.Popen(_java("-version"), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    archive.put_into_place(jvm)
    assert not archive.there


def test_each_java_has_its_own(tmp_path: Path) -> None:
    home = tmp_path / "java"
    home.mkdir()
    nameless = class_archive(home)
    (home / "release").write_text('JAVA_VERSION="17.0.1"')
    first = class_archive(home)
    (home / "release").write_text('JAVA_VERSION="17.0.2"')
    assert len({nameless.path, first.path, class_archive(home).path}) == 3


def test_the_waiting_may_be_interrupted(archive: ClassArchive) -> None:
    class Jvm:
        stdin = None

        def wait(self, _seconds: float) -> int:
            raise KeyboardInterrupt

    archive.put_into_place(cast("subprocess.Popen[bytes]", Jvm()))
    assert not archive.there
