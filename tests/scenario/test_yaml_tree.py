"""YAML with the line of each value."""

from __future__ import annotations

from importlib.util import find_spec, module_from_spec
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from ticdc_producer.errors import ScenarioError
from ticdc_producer.scenario.yaml_tree import MAX_DEPTH, YAMLTree, read_yaml

_SHIPPED = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
_STYLES = dedent("""\
    plain: ${PORT}
    quoted: "${PORT}"
    block: |
      SELECT 1;

      SELECT 2;
    folded: >-
      a
      b
    flow: {list: [1, 2.5, ~, true], text: 'it''s', base 60: +10:00, half: "\\ud83d\\ude00"}
    empty:
    # a comment
    last: é
    last: again
""")


def _without_libyaml(text: str, monkeypatch: pytest.MonkeyPatch) -> YAMLTree:
    """The tree by a copy of the module that was imported where PyYAML has no libyaml."""
    spec = find_spec("ticdc_producer.scenario.yaml_tree")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with monkeypatch.context() as patched:
        patched.delattr(yaml, "CSafeLoader")
        spec.loader.exec_module(module)
    tree: YAMLTree = module.read_yaml(text, "s.yaml")
    return tree


@pytest.mark.parametrize("text", [_STYLES, *(file.read_text("utf-8") for file in _SHIPPED)])
def test_both_parsers_read_the_same(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "4000")
    tree, own = read_yaml(text, "s.yaml"), _without_libyaml(text, monkeypatch)
    assert (tree.data, tree.lines, tree.keys, tree.unread) == (own.data, own.lines, own.keys, own.unread)
    assert [str(problem) for problem in tree.problems] == [str(problem) for problem in own.problems]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c\n", "s.yaml:1: not YAML: mapping values are not allowed here"),
        ("a: 1\n\tb: 2\n", "s.yaml:2: not YAML: found character '\\t' that cannot start any token"),
        ("a: &x 1\nb: *x\n", "s.yaml:2: aliases are not supported"),
        ("[" * (MAX_DEPTH + 1), "s.yaml:1: not YAML: nested too deeply"),
        ("a: 1\nb: \ud800\n", "s.yaml:2: not YAML: special characters are not allowed"),
    ],
)
def test_errors_name_cause_and_line(text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ScenarioError) as error:
        read_yaml(text, "s.yaml")
    assert str(error.value).startswith(message)
    with pytest.raises(ScenarioError) as own:
        _without_libyaml(text, monkeypatch)
    assert str(error.value) == str(own.value)
