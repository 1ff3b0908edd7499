"""The texts that the page offers to take away have the scenario as it is, whatever characters it has."""

from __future__ import annotations

import ast
import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import ticdc_producer.page
from tests.serve.test_example_projects import EXAMPLES, PROJECTS, Project, fetch, run_in_project

FOLDER = Path(ticdc_producer.page.__file__).parent / "files"
NODE = shutil.which("node")
SQL = (
    "INSERT INTO t VALUES ('it''s', \"q\", 'C:\\new\\u0041', `b`, '${x} #{y} %s');  \n"
    'SELECT \'"""\', \'""""\', \'"""""\', \'""""""\';\n'
    "\t-- a tab at the end\t\n\nINSERT INTO t VALUES ('é\U0001f600\u2028\ufeff\x01 \r\n');\n"
)
STATE = {"sql": SQL, "protocol": "canal-json", "partitions": 3, "dispatch": "ts", "options": {}, "traps": []}
NAME = "x; touch '/tmp/y' `z` \"$(w)\" \\"
FORMS = ("commandLine", "pytest", "junit", "go", "node")
pytestmark = pytest.mark.skipif(NODE is None, reason="not run: no node on the PATH")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    for file in FOLDER.glob("*.js"):
        shutil.copy(file, folder)
    (folder / "package.json").write_text('{"type": "module"}', "utf-8")
    return folder


def _texts(page: Path, state: dict[str, Any]) -> dict[str, str]:
    (page / "state.json").write_text(json.dumps(state), "utf-8")
    script = (
        "import * as forms from './takeaway.js'; import { readFileSync } from 'node:fs';"
        "const state = JSON.parse(readFileSync('state.json', 'utf8'));"
        f"const texts = {json.dumps(FORMS)}.map((name) => [name, forms[name](state)]);"
        "console.log(JSON.stringify(Object.fromEntries(texts)))"
    )
    (page / "print.js").write_text(script, "utf-8")
    done = subprocess.run([str(NODE), "print.js"], cwd=page, capture_output=True, timeout=60, check=True)
    return dict(json.loads(done.stdout))


def test_sql_in_go_and_node(page: Path) -> None:
    texts = _texts(page, STATE)
    go = re.search(r'SQL: ("(?:[^"\\]|\\.)*"),', texts["go"])
    assert go is not None
    assert json.loads(go[1]) == SQL
    assert "\ufeff" not in texts["go"], "Go has no byte order marks in its sources"
    run = re.search(r"const run = (\{.*?\n\})", texts["node"], re.DOTALL)
    assert run is not None
    assert json.loads(run[1])["sql"] == SQL


def test_many_options_are_a_map_of_java(page: Path) -> None:
    """``Map.of`` has at most ten pairs."""
    for count, call in ((10, "Map.of("), (11, 'Map.ofEntries(Map.entry("option-0", "0"), ')):
        options = {"canal-json": {f"option-{number}": str(number) for number in range(count)}}
        assert call in _texts(page, {**STATE, "options": options})["junit"]


@pytest.mark.parametrize(("name", "file"), [("bank", "bank.yaml"), ("orders.sql", "orders.sql")])
def test_the_file_of_a_scenario_has_its_language(page: Path, name: str, file: str) -> None:
    script = (
        "import { languageOf, scenarioFile } from './scenario.js';"
        f"console.log(scenarioFile({{scenario: '{name}'}}), languageOf('{name}'))"
    )
    (page / "file.js").write_text(script, "utf-8")
    done = subprocess.run([str(NODE), "file.js"], cwd=page, capture_output=True, timeout=60, check=True)
    assert done.stdout.decode().split() == [file, file.rpartition(".")[2]]


def test_a_name_and_traps_in_a_command_and_in_python(page: Path) -> None:
    traps = ["duplicate-message:rate=1'", 'x"; y']
    texts = _texts(page, {**STATE, "sql": None, "scenario": NAME, "traps": traps, "dispatch": "\"'"})
    words = shlex.split(texts["commandLine"])
    assert words[:3] == ["ticdc-producer", "run", NAME]
    assert [words[index + 1] for index, word in enumerate(words) if word == "--inject"] == traps
    (marker,) = (
        node
        for node in ast.walk(ast.parse(texts["pytest"]))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.ticdc"
    )
    values = {keyword.arg: ast.literal_eval(keyword.value) for keyword in marker.keywords}
    assert (values["scenario"], values["traps"]) == (NAME, traps)


def test_halves_of_characters_are_in_no_source_file(page: Path) -> None:
    for name, text in _texts(page, {**STATE, "sql": "SELECT '\ud800'"}).items():
        assert "\ud800" not in text, name


IN_A_PROJECT: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "java": ("junit", "src/test/java/orders/ScenarioTest.java", ("mvn", "-o", "-B", "-q", "test-compile")),
    "go": ("go", "scenario_test.go", ("go", "vet", ".")),
    "node": ("node", "scenario.test.js", ("node", "--check", "scenario.test.js")),
}
"""The form of each example project, its file there, and the command that compiles it."""


@pytest.mark.slow
@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_a_test_compiles_instead_of_that_of_the_example(project: Project, page: Path, tmp_path: Path) -> None:
    form, file, command = IN_A_PROJECT[project.name]
    folder = tmp_path / project.name
    shutil.copytree(EXAMPLES / project.name, folder, ignore=shutil.ignore_patterns("target", "node_modules"))
    fetch(project, folder)
    for old in (folder / "consumer_test.go", folder / "src/test/java/orders/ConsumerTest.java"):
        old.unlink(missing_ok=True)
    options = {"canal-json": {"enable-tidb-extension": "true"}}
    state = {**STATE, "options": options, "traps": ["duplicate-message:rate=1"]}
    (folder / file).write_text(_texts(page, state)[form], "utf-8")
    done = run_in_project(command, folder, "")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="not run: no javac on the PATH")
def test_sql_in_a_text_block_of_java(page: Path) -> None:
    block = re.search(
        r"  private static final String SCENARIO.*?\n      \"\"\";\n", _texts(page, STATE)["junit"], re.DOTALL
    )
    assert block is not None
    main = (
        "  public static void main(String[] none) throws Exception {\n"
        '    System.out.write(SCENARIO.getBytes("UTF-8")); System.out.flush();\n  }\n'
    )
    (page / "Main.java").write_text(f"class Main {{\n{block[0]}{main}}}\n", "utf-8")
    command = ["java", "-Dfile.encoding=UTF-8", "Main.java"]
    done = subprocess.run(command, cwd=page, capture_output=True, timeout=120, check=True)
    assert done.stdout.decode() == SQL
