"""Imports go one way: this table says who may import whom (docs/design.md, Layout)."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import grimp
import pytest

import pyspark_ticdc
import ticdc_producer
from ticdc_producer.protocols.registry import BUILT_IN
from ticdc_producer.runs import topic_cache

PACKAGES = (ticdc_producer, pyspark_ticdc)
SOURCE = pyspark_ticdc.__name__
EVERYWHERE = {"errors", "hints", "installation", "local_path", "masking"}
MAY_IMPORT = {
    # The ground floor: needed by everything else.
    "errors": set(),
    "hints": set(),
    "local_path": set(),
    "masking": set(),
    "installation": set(),
    "model": set(),
    "resources": set(),
    "java": {"resources"},
    "kafka": {"java", "resources"},
    "config": {"kafka", "model", "protocols"},
    # The engines, on which both ways are composed.
    "spark": {"java", "model"},
    "engine": {"model", "spark"},
    # The way out: scenario → change log → pipeline → protocol → target.
    "scenario": {"config", "engine", "model", "resources", "spark"},
    "dispatch": {"config", "model"},
    "pipeline": {"config", "dispatch", "model"},
    "protocols": {"model"},
    "faults": {"model", "pipeline", "protocols"},
    "targets": {"config", "engine", "kafka", "model", "protocols"},
    "simulate": {
        "config", "dispatch", "engine", "faults", "model", "pipeline", "protocols", "scenario", "spark",
        "targets",
    },
    # The way back: target → protocol → verifier.
    "replica": {"model", "scenario"},  # of the scenario the parser alone: see ENGINE
    "verifier": {"dispatch", "engine", "model", "replica", "spark"},
    "oracle": {
        "config", "dispatch", "engine", "faults", "model", "pipeline", "protocols", "simulate", "targets",
        "verifier",
    },
    "rows": {
        "config", "dispatch", "engine", "kafka", "model", "oracle", "protocols", "spark", "targets",
        "verifier",
    },
    "masks": {"config", "model", "replica", "scenario", "verifier"},
    "recording": {
        "config", "engine", "masks", "model", "protocols", "replica", "rows", "scenario", "targets",
        "verifier",
    },
    "runs": {
        "config", "dispatch", "engine", "faults", "kafka", "masks", "model", "oracle", "pipeline",
        "protocols", "recording", "resources", "rows", "scenario", "simulate", "spark", "targets", "verifier",
    },
    "api": {"runs", "scenario", "verifier"},
    # What people call.
    "client": set(),
    "page": {"engine", "model", "protocols", "verifier"},
    "reports": {"model", "page", "verifier"},
    "bench": {"model", "protocols", "targets"},
    "conformance": {
        "config", "faults", "model", "protocols", "reports", "runs", "scenario", "simulate",
        "targets",
    },
    "testing": {"api", "config", "kafka", "model", "protocols", "scenario", "targets"},
    "serve": {
        "config", "conformance", "dispatch", "engine", "faults", "kafka", "model", "page", "protocols",
        "reports", "runs", "scenario", "simulate", "targets", "testing", "verifier",
    },
    "cli": {
        "api", "bench", "conformance", "faults", "kafka", "model", "page", "protocols", "reports", "runs",
        "scenario", "serve", "verifier",
    },
    "__main__": {"cli"},
    # The data source of Spark, a package of its own.
    SOURCE: {
        "config", "engine", "kafka", "model", "rows", "runs", "scenario", "simulate", "spark",
        "targets", "verifier",
    },
}  # fmt: skip

ENGINE = {"ddl", "dml", "query", "session", "store"}
"""Folders of ``scenario.sql`` with the state of the SQL engine, or with what changes it."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return _graph(exclude_type_checking_imports=True)


def _graph(*, exclude_type_checking_imports: bool) -> grimp.ImportGraph:
    return grimp.build_graph(
        *(package.__name__ for package in PACKAGES),
        exclude_type_checking_imports=exclude_type_checking_imports,
        cache_dir=None,
    )


def _part(module: str) -> str:
    package, _, rest = module.partition(".")
    return package if package == SOURCE else rest.partition(".")[0]


def _sources() -> list[Path]:
    return [Path(package.__file__).parent for package in PACKAGES]


def test_every_package_is_in_the_table(graph: grimp.ImportGraph) -> None:
    assert {_part(module) for module in graph.find_children("ticdc_producer")} | {SOURCE} == set(MAY_IMPORT)


@pytest.mark.parametrize("importer", sorted(MAY_IMPORT))
def test_imports_go_one_way(graph: grimp.ImportGraph, importer: str) -> None:
    violations = {
        (module, imported)
        for module in graph.modules
        if _part(module) == importer
        for imported in graph.find_modules_directly_imported_by(module)
        if _part(imported) not in {importer, "", *EVERYWHERE, *MAY_IMPORT[importer]}
    }
    assert not violations


def test_the_expected_rows_are_computed_twice_by_code_that_is_not_shared(graph: grimp.ImportGraph) -> None:
    """DDL parser, coercions and partition functions are shared; state and its application are not."""
    replica = graph.find_descendants("ticdc_producer.replica")
    used = {upstream for module in replica for upstream in graph.find_upstream_modules(module)}
    scenario = [module.split(".")[2:] for module in used if _part(module) == "scenario"]
    assert {parts[0] for parts in scenario if parts} <= {"sql"}
    assert not {parts[1] for parts in scenario if len(parts) > 1} & ENGINE
    assert not {module for module in used if _part(module) in ("pipeline", "runs", "simulate")}
    assert not {
        module
        for module in graph.find_descendants("ticdc_producer.scenario")
        for imported in graph.find_upstream_modules(module)
        if _part(imported) in ("replica", "verifier")
    }


@cache
def _texts() -> dict[str, str]:
    """The text of each module, by path; in ``ticdc_producer`` relative to it."""
    return {
        str(file.relative_to(source)).removeprefix(f"{ticdc_producer.__name__}/"): file.read_text("utf-8")
        for source in {path.parent for path in _sources()}
        for package in PACKAGES
        for file in (source / package.__name__).rglob("*.py")
    }


OTHER_MEANINGS = {
    ("verifier/consumer_state/files.py", "csv"),  # a file of rows
    ("scenario/sql/syntax/table_option.py", "csv"),  # a storage engine of MySQL
    ("serve/submission.py", "canal-json"),  # an example in the API's description
}
"""Strings outside of ``protocols`` that are no names of protocols: module and text."""


OF_PROTOCOLS = {"protocols", "model/parameter.py", "faults/traps"}
"""The protocols themselves, the names of an option's values, and the protocols of each trap."""


def test_only_the_package_of_the_protocols_names_a_protocol() -> None:
    """Everything else that depends on a protocol reads its ``ProtocolSpec``."""
    names = {name for spec in BUILT_IN.values() for name in (spec.name, *spec.aliases)} - {"default"}
    quoted = re.compile(f"""["'](?:{"|".join(map(re.escape, names))})["']""")
    mentions = {
        (file, node.value)
        for file, text in _texts().items()
        if not file.startswith(tuple(OF_PROTOCOLS)) and quoted.search(text)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert mentions == OTHER_MEANINGS


def test_the_name_of_a_class_means_one_class() -> None:
    """Private classes are exempt: only their module can mean them."""
    modules: dict[str, set[str]] = {}
    for file, text in _texts().items():
        for name in re.findall(r"^ *class ([A-Za-z]\w*)", text, re.MULTILINE):
            modules.setdefault(name, set()).add(file)
    assert {name: homes for name, homes in modules.items() if len(homes) > 1} == {}


def test_no_folder_has_more_than_twenty_modules() -> None:
    folders = [folder for source in _sources() for folder in (source, *source.rglob("*")) if folder.is_dir()]
    sizes = {folder: len([*folder.glob("*.py")]) for folder in folders}
    assert {folder for folder, size in sizes.items() if size > 20} == set()


LONGEST_CHAIN = 11


def test_a_folder_is_read_in_few_steps() -> None:
    """An import chain has few modules of one folder; so has what a reader follows there."""
    graph = _graph(exclude_type_checking_imports=False)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    folders: dict[str, set[str]] = {}
    for module in graph.modules:
        folders.setdefault(module.rpartition(".")[0], set()).add(module)
    chains = {folder: _longest_chain(imports, modules) for folder, modules in folders.items()}
    assert {folder: chain for folder, chain in chains.items() if len(chain) > LONGEST_CHAIN} == {}


def _longest_chain(imports: Mapping[str, set[str]], modules: set[str]) -> tuple[str, ...]:
    """The modules of a folder in the chain that has most of them; other modules connect these."""
    chains: dict[str, tuple[str, ...]] = {}
    for name in graphlib.TopologicalSorter(imports).static_order():
        longest = max((chains[imported] for imported in imports[name]), key=len, default=())
        chains[name] = (name, *longest) if name in modules else longest
    return max(chains.values(), key=len)


def test_a_chain_is_counted_through_other_folders() -> None:
    imports = {"a.x": {"b.y"}, "b.y": {"a.z"}, "a.z": set[str]()}
    assert _longest_chain(imports, {"a.x", "a.z"}) == ("a.x", "a.z")


def test_the_table_names_no_package_without_need() -> None:
    graph = _graph(exclude_type_checking_imports=False)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    used = {(_part(module), _part(other)) for module, others in imports.items() for other in others}
    named = {(importer, package) for importer, packages in MAY_IMPORT.items() for package in packages}
    assert sorted(named - used) == []


def test_no_module_imports_itself_through_others() -> None:
    """Imports for type checkers count as well: each module can be read without another one that needs it."""
    graph = _graph(exclude_type_checking_imports=False)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    sorter = graphlib.TopologicalSorter(imports)
    sorter.prepare()  # raises CycleError and names the modules


def _loads(statement: str) -> set[str]:
    heavy = "{name.split('.')[0] for name in sys.modules} & {'pyspark', 'confluent_kafka', 'pyarrow'}"
    code = f"import sys; {statement}; print(*sorted({heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


WITHOUT_SPARK = (
    "import ticdc_producer",
    "import ticdc_producer.protocols.registry",
    "import ticdc_producer.config",
    "import ticdc_producer.dispatch.rules",
    "import ticdc_producer.cli",
    "import ticdc_producer.cli.serve_command, ticdc_producer.serve.server",
    "import ticdc_producer.runs.validate",
    "import ticdc_producer.testing.plugin",
    "import ticdc_producer.testing.strategies",
    "from ticdc_producer.testing.registered import register; register()",
)


def test_what_needs_no_spark_loads_none() -> None:
    """One process: what it has loaded in the end, one of the statements has loaded."""
    assert _loads("; ".join(WITHOUT_SPARK)) == set()


def test_planning_a_query_of_the_data_source_loads_neither_simulation_nor_verifier() -> None:
    """Spark plans each query in two processes that import the reader again."""
    code = "import sys, pyspark_ticdc.reader; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    heavy = ("sqlglot", "ticdc_producer.simulate", "ticdc_producer.oracle", "ticdc_producer.verifier.check")
    assert [module for module in done.stdout.split() if module.startswith(heavy)] == []


WITHOUT_SPARK_BUT_ARROW = (
    "from ticdc_producer.cli import main; main(['decode', '/dev/null'])",
    "from ticdc_producer.conformance import case, case_spec, corpus, runner",
    "list(map(case.build_decode_case, case_spec.decode_cases()[:9]))",
)


def test_decoding_and_conformance_load_no_spark() -> None:
    assert "pyspark" not in _loads("; ".join(WITHOUT_SPARK_BUT_ARROW))


CODECS = (
    "open_protocol", "craft", "canal_json", "debezium", "simple", "avro", "debezium_avro", "maxwell", "canal",
)  # fmt: skip


def test_the_decoders_load_no_arrow() -> None:
    """One process: what it has loaded in the end, one of the decoders has loaded."""
    assert _loads("; ".join(f"import ticdc_producer.protocols.{codec}.decoder" for codec in CODECS)) == set()


def test_cached_topics_are_keyed_by_all_code_that_determines_their_bytes() -> None:
    # They carry, read or check messages, and make none.
    transport = {"kafka", "masks", "recording", "resources", "rows", "verifier"}
    assert set(topic_cache.PACKAGES) == {"runs", *MAY_IMPORT["runs"]} - transport
