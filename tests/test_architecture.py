"""The house keeps its direction: who may import whom, as DESIGN's table says."""

from __future__ import annotations

import subprocess
import sys

import grimp
import pytest

EVERYWHERE = {"errors"}
MAY_IMPORT = {
    "model": set(),
    "errors": set(),
    "resources": set(),
    "quiet_jvm": set(),
    "kept": set(),
    "aside": {"kept"},
    "warm_up": set(),
    "class_archive": {"broker"},
    "later_interrupt": set(),
    "spark_words": set(),
    "__main__": {"cli"},
    "changefeed": {"model"},
    "dispatch": {"model", "changefeed"},
    "codec": {"model"},
    "scenario": {"model", "changefeed", "resources", "spark_words"},
    "stream": {"model", "changefeed", "dispatch"},
    "faults": {"model", "codec", "resources"},
    "sink": {"model", "changefeed", "codec"},
    "source": {"model", "changefeed", "codec"},
    "broker": set(),
    "verifier": {"model", "changefeed", "dispatch", "source", "kept", "aside"},
    "state": {"model", "spark_words"},
    "session_settings": {"kept"},
    "session": {
        "broker", "quiet_jvm", "session_settings", "warm_up", "class_archive", "later_interrupt",
    },
    "jobs": {
        "model", "changefeed", "dispatch", "codec", "scenario", "stream", "faults", "sink", "source",
        "broker", "verifier", "session", "kept", "aside", "state",
    },
    "report": {"model", "verifier", "state"},
    "bench": {"model", "codec", "sink"},
    "conformance": {"model", "changefeed", "codec", "scenario", "sink", "source", "jobs", "report"},
    "api": {"jobs", "scenario", "verifier", "state"},
    "testing": {"api", "model", "codec", "changefeed", "scenario", "broker", "sink", "source"},
    "cli": {"api", "bench", "conformance", "faults", "jobs", "model", "report", "verifier", "scenario"},
}  # fmt: skip


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("producer", exclude_type_checking_imports=True, cache_dir=None)


def _part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_every_package_is_in_the_table(graph: grimp.ImportGraph) -> None:
    assert {_part(module) for module in graph.find_children("producer")} == set(MAY_IMPORT)


@pytest.mark.parametrize("importer", sorted(MAY_IMPORT))
def test_imports_go_one_way(graph: grimp.ImportGraph, importer: str) -> None:
    found = {
        (module, imported)
        for module in graph.modules
        if _part(module) == importer
        for imported in graph.find_modules_directly_imported_by(module)
        if _part(imported) not in {importer, "", *EVERYWHERE, *MAY_IMPORT[importer]}
    }
    assert not found


def _loads(statement: str) -> set[str]:
    heavy = "{name.split('.')[0] for name in sys.modules} & {'pyspark', 'confluent_kafka', 'pyarrow'}"
    code = f"import sys; {statement}; print(*sorted({heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import ticdc_producer.protocols.registry",
        "import ticdc_producer.config",
        "import ticdc_producer.dispatch.rules",
        "import ticdc_producer.cli",
        "import ticdc_producer.runs.validate",
        "import ticdc_producer.testing.plugin",
        "import ticdc_producer.testing.strategies",
        "from ticdc_producer.testing.registered import register; register()",
        "import producer",
    ],
)
def test_what_needs_no_spark_loads_none(statement: str) -> None:
    assert _loads(statement) == set()


def test_decoding_a_file_loads_no_spark() -> None:
    statement = "from ticdc_producer.cli import main; main(['decode', '/dev/null'])"
    assert "pyspark" not in _loads(statement)


def test_a_conformance_case_loads_no_spark() -> None:
    statement = (
        "from ticdc_producer.conformance import case, corpus_folder, report, runner, story; "
        "list(map(case.build, story.tellings()[:9]))"
    )
    assert "pyspark" not in _loads(statement)


@pytest.mark.parametrize("codec", ["open", "craft", "canal_json", "debezium", "simple", "avro"])
def test_a_decoder_loads_no_arrow(codec: str) -> None:
    assert _loads(f"import ticdc_producer.protocols.{codec}.decoder") == set()
