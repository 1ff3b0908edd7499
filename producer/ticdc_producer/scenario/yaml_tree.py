"""YAML as plain values, with the line of each; everything that is wrong is collected.

The values are those of ``yaml.safe_load``, except that numbers in base 60 (``+10:00``) stay text and that
aliases are refused: a scenario needs none, and a few of them can stand for terabytes.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ticdc_producer.config.model_errors import Path, spell
from ticdc_producer.errors import ScenarioError

MAX_DEPTH = 50
_INT_TAG, _FLOAT_TAG = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_NO_ALIASES = "aliases are not supported"
_ADVICE = {
    "'\\t'": "indent with spaces: YAML takes no tabs",
    "mapping values are not allowed": "a text with ': ' in it stands in quotes",
    "expected <block end>": "keys of one mapping start in the same column, and so do the entries of a list",
    "unexpected end of stream": "a quote is not closed",
}
_STR_TAG = "tag:yaml.org,2002:str"
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_ENVIRONMENT = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(slots=True)
class YAMLTree:
    """A document.

    :param data: its plain values.
    :param lines: line, from 1, on which the value of a path starts; of a block text its first line.
    :param keys: line of the key, or of the list entry's start.
    :param problems: what was wrong on the way.
    :param unread: paths whose value is None only because it could not be read.
    """

    data: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    keys: dict[Path, int] = field(default_factory=dict)
    problems: list[ScenarioError] = field(default_factory=list)
    unread: set[Path] = field(default_factory=set)


class _Loader(yaml.SafeLoader):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if self.check_event(yaml.AliasEvent):
            raise self._refused(_NO_ALIASES)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._refused("nested too deeply")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def _refused(self, what: str) -> yaml.MarkedYAMLError:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # PyYAML's stubs
        return yaml.composer.ComposerError(None, None, what, event.start_mark)

    def tag_of(self, text: str) -> str:
        """The type that a plain scalar of this text has."""
        return str(self.resolve(ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]  # PyYAML's stubs


def read_yaml(text: str, file: str) -> YAMLTree:
    """The one document of a text.

    :param file: what to name as its place.
    :raises ScenarioError: for a text that is no YAML at all; all else stands in ``problems``.
    """
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 0
        raise _not_yaml(error.problem or error.context or "", file, line) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ScenarioError(f"not YAML: {error.reason}", file=file, line=line) from None
    tree = YAMLTree()
    if root is not None:
        tree.data = _Reader(loader, tree, file).value(root, ())
    return tree


def _not_yaml(told: str, file: str, line: int) -> ScenarioError:
    """The parser's sentence, and what is mostly behind it."""
    if told == "but found another document":
        return ScenarioError("a scenario is one YAML document, and here starts another", file=file, line=line)
    if told == _NO_ALIASES:
        return ScenarioError(told, file=file, line=line, hint="write the value out")
    hint = next((advice for part, advice in _ADVICE.items() if part in told), "")
    return ScenarioError(f"not YAML: {told}", file=file, line=line, hint=hint)


class _Reader:
    def __init__(self, loader: _Loader, tree: YAMLTree, file: str) -> None:
        self.loader = loader
        self.tree = tree
        self.file = file

    def value(self, node: Node, path: Path) -> Any:
        self.tree.lines[path] = _first_line(node)
        self.tree.keys.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self._mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            return [self.value(entry, (*path, place)) for place, entry in enumerate(node.value)]
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        return self._problem(node, path, f"tag {node.tag!r} is not supported")

    def _mapping(self, node: MappingNode, path: Path) -> dict[str, Any]:
        content: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if not isinstance(key_node, ScalarNode) or key_node.tag not in (
                _STR_TAG,
                "tag:yaml.org,2002:merge",
            ):
                self._problem(key_node, path, "a key must be text")
                continue
            below = (*path, key)
            if key in content:
                self._problem(key_node, below, f"{spell(below)!r} stands there twice")
                continue
            self.tree.keys[below] = key_node.start_mark.line + 1
            content[key] = self.value(value_node, below)
        return content

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        text = self._with_environment(node, path)
        tag = node.tag
        if node.style is None and text != node.value:
            tag = self.loader.tag_of(text)  # a plain ${PORT} may become a number
        if tag in (_INT_TAG, _FLOAT_TAG) and _BASE_60.fullmatch(text):
            return text
        try:
            scalar = ScalarNode(tag, text, node.start_mark, node.end_mark, node.style)
            return self.loader.construct_object(scalar)
        except (yaml.YAMLError, ValueError, OverflowError):
            return self._problem(
                node, path, f"{spell(path)}: {text[:80]!r} cannot be read as {tag.rpartition(':')[2]}"
            )

    def _with_environment(self, node: ScalarNode, path: Path) -> str:
        def substitute(found: re.Match[str]) -> str:
            if found[1]:
                return f"${{{found[2]}}}"  # $${NAME} stands for itself
            if found[2] not in os.environ:
                what = f"{spell(path)}: environment variable {found[2]!r} is not set"
                self._problem(node, path, what, hint="write $${…} for the text itself")
            return os.environ.get(found[2], "")

        return _ENVIRONMENT.sub(substitute, node.value)

    def _problem(self, node: Node, path: Path, what: str, hint: str = "") -> None:
        line = node.start_mark.line + 1
        self.tree.problems.append(ScenarioError(what, file=self.file, line=line, hint=hint))
        self.tree.keys.setdefault(path, line)
        self.tree.unread.add(path)


def _first_line(node: Node) -> int:
    block = isinstance(node, ScalarNode) and node.style in ("|", ">")
    return int(node.start_mark.line) + (2 if block else 1)
