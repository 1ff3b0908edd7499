"""The archives of classes of the JVMs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import cast

import pytest

from ticdc_producer.java import find_java
from ticdc_producer.kafka.embedded.class_archive import ClassArchive, class_archive


@pytest.fixture
def archive(tmp_path: Path) -> ClassArchive:
    return ClassArchive(tmp_path / "classes" / "spark-0.jsa")


def _java(*arguments: str) -> list[str]:
    return [str(find_java().java), *arguments]


def test_it_is_written_at_the_second_start(archive: ClassArchive) -> None:
    assert [archive.is_due() for _ in range(3)] == [False, True, True]
    archive.path.write_bytes(b"")
    assert not archive.is_due()


def test_a_cache_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "classes").write_bytes(b"in the way")
    archive = ClassArchive(tmp_path / "classes" / "spark-0.jsa")
    assert [archive.is_due() for _ in range(3)] == [False, False, False]


def test_the_file_of_a_failed_run_is_removed_by_the_next_run(archive: ClassArchive) -> None:
    archive.is_due()
    written = archive.path.with_suffix(".1.part")
    written.touch()
    assert archive.is_due()
    assert not written.exists()


@pytest.mark.usefixtures("base_archive")
def test_a_jvm_starts_with_the_archive_of_another(archive: ClassArchive) -> None:
    archive.is_due()
    interrupted = archive.path.with_suffix(".1.part")
    interrupted.touch()
    jvm = subprocess.Popen(
        _java(archive.write_option, "-version"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    archive.install(jvm)
    assert jvm.returncode == 0
    assert archive.exists
    assert not interrupted.exists()
    subprocess.run(_java(archive.read_option, "-Xshare:on", "-version"), capture_output=True, check=True)


def test_a_jvm_that_wrote_nothing_installs_nothing(archive: ClassArchive) -> None:
    archive.is_due()
    jvm = subprocess.Popen(_java("-version"), stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    archive.install(jvm)
    assert not archive.exists


def test_each_java_has_its_own_archive(tmp_path: Path) -> None:
    home = tmp_path / "java"
    home.mkdir()
    nameless = class_archive("spark", home, "4.1")
    (home / "release").write_text('JAVA_VERSION="17.0.1"')
    first = class_archive("spark", home, "4.1")
    (home / "release").write_text('JAVA_VERSION="17.0.2"')
    assert len({nameless.path, first.path, class_archive("spark", home, "4.1").path}) == 3


def test_an_interrupt_ends_the_wait(archive: ClassArchive) -> None:
    class Jvm:
        stdin = None

        def wait(self, _seconds: float) -> int:
            raise KeyboardInterrupt

    archive.install(cast("subprocess.Popen[bytes]", Jvm()))
    assert not archive.exists
