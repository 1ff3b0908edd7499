"""Reads YAML as plain values with the line of each value; the base class of the models of a scenario file.

The values are those of ``yaml.safe_load``, with two exceptions: numbers in base 60 (``+10:00``) remain text,
and aliases are refused, because a few aliases can expand to terabytes and a scenario needs none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict
from yaml import SafeLoader
from yaml.composer import Composer
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ticdc_producer.config.config_section import Path, spell
from ticdc_producer.config.kafka_properties import variables
from ticdc_producer.errors import ScenarioError

try:
    from yaml import CSafeLoader
except ImportError:  # PyYAML was built without libyaml
    # The stubs know two unrelated classes; this module calls only what both have.
    CSafeLoader = SafeLoader  # type: ignore[assignment, misc]

MAX_DEPTH = 50
_INT_TAG, _FLOAT_TAG = "tag:yaml.org,2002:int", "tag:yaml.org,2002:float"
_NO_ALIASES = "aliases are not supported"
_ADVICE = {
    "'\\t'": "indent with spaces: YAML takes no tabs",
    "mapping values are not allowed": "a text with ': ' in it needs quotes",
    "expected <block end>": "keys of one mapping start in the same column, and so do the entries of a list",
    "unexpected end of stream": "a quote is not closed",
}
_STR_TAG = "tag:yaml.org,2002:str"
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?")
_ENVIRONMENT = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(slots=True)
class YAMLTree:
    """A YAML document.

    :param data: its plain values.
    :param lines: per path the line, from 1, on which its value starts; for block text the text's first line.
    :param keys: per path the line of its key, or of the start of its list entry.
    :param problems: all problems that were found.
    :param unread: paths whose value is None only because it could not be read.
    """

    data: object = None
    lines: dict[Path, int] = field(default_factory=dict)
    keys: dict[Path, int] = field(default_factory=dict)
    problems: list[ScenarioError] = field(default_factory=list)
    unread: set[Path] = field(default_factory=set)


class _BoundedComposer(Composer):
    """A composer that refuses aliases and deep nesting, by which a small text could need much memory.

    A subclass adds the parser, with ``check_event`` and ``peek_event``. They cannot be declared here: the two
    parsers have them with different types.
    """

    depth = 0

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if self.check_event(yaml.AliasEvent):  # type: ignore[attr-defined]  # the subclass has it
            raise self._refused(_NO_ALIASES)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._refused("nested too deeply")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def _refused(self, what: str) -> yaml.MarkedYAMLError:
        event = self.peek_event()  # type: ignore[attr-defined]  # the subclass has it
        return yaml.composer.ComposerError(None, None, what, event.start_mark)


class _Loader(_BoundedComposer, SafeLoader):
    """PyYAML's own parser."""


class _FastLoader(_BoundedComposer, CSafeLoader):
    """The parser of libyaml, which is ten times as fast."""

    def __init__(self, text: str) -> None:
        CSafeLoader.__init__(self, text)
        Composer.__init__(self)


def read_yaml(text: str, file: str) -> YAMLTree:
    """Read a text that is one YAML document.

    :param file: name of the file in errors.
    :raises ScenarioError: if the text is not YAML; ``problems`` has all other errors.
    """
    try:
        loader, root = _composed(text)
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


def _composed(text: str) -> tuple[_Loader | _FastLoader, Node | None]:
    """Parse the document to nodes. PyYAML's own parser describes errors, because it names their causes."""
    try:
        fast = _FastLoader(text)
        return fast, fast.get_single_node()
    except (yaml.YAMLError, UnicodeEncodeError):  # the latter for half a surrogate pair
        loader = _Loader(text)
        return loader, loader.get_single_node()


def _not_yaml(message: str, file: str, line: int) -> ScenarioError:
    """Build the error of a text that is not YAML: the parser's message, with the usual cause as hint."""
    if message == "but found another document":
        return ScenarioError(
            "a scenario is one YAML document; a second one starts here", file=file, line=line
        )
    if message == _NO_ALIASES:
        return ScenarioError(message, file=file, line=line, hint="write the value out")
    hint = next((advice for part, advice in _ADVICE.items() if part in message), "")
    return ScenarioError(f"not YAML: {message}", file=file, line=line, hint=hint)


class _Reader:
    def __init__(self, loader: _Loader | _FastLoader, tree: YAMLTree, file: str) -> None:
        self.loader = loader
        self.tree = tree
        self.file = file

    def value(self, node: Node, path: Path) -> Any:
        self.tree.lines[path] = _first_line(node)
        self.tree.keys.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, MappingNode) and node.tag == "tag:yaml.org,2002:map":
            return self._mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
            return [self.value(entry, (*path, index)) for index, entry in enumerate(node.value)]
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
                self._problem(key_node, below, f"duplicate key {spell(below)!r}")
                continue
            self.tree.keys[below] = key_node.start_mark.line + 1
            content[key] = self.value(value_node, below)
        return content

    def _scalar(self, node: ScalarNode, path: Path) -> Any:
        text = self._with_environment(node, path)
        tag = node.tag
        if not node.style and text != node.value:
            # A plain ${PORT} may become a number. PyYAML's stubs leave this method untyped.
            tag = self.loader.resolve(ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
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
        def substitute(match: re.Match[str]) -> str:
            if match[1]:
                return f"${{{match[2]}}}"  # $${NAME} is an escaped ${NAME}
            if match[2] not in variables():
                what = f"{spell(path)}: environment variable {match[2]!r} is not set"
                self._problem(node, path, what, hint="write $${…} for the text itself")
            return variables().get(match[2], "")

        return _ENVIRONMENT.sub(substitute, node.value)

    def _problem(self, node: Node, path: Path, what: str, hint: str = "") -> None:
        line = node.start_mark.line + 1
        self.tree.problems.append(ScenarioError(what, file=self.file, line=line, hint=hint))
        self.tree.keys.setdefault(path, line)
        self.tree.unread.add(path)


def _first_line(node: Node) -> int:
    block = isinstance(node, ScalarNode) and node.style in ("|", ">")
    return int(node.start_mark.line) + (2 if block else 1)


def _kebab(field: str) -> str:
    return field.replace("_", "-")


class StrictModel(BaseModel):
    """A mapping of the file. Unknown keys are errors; values are not converted between types."""

    # A mapping is built as part of the file that contains it: its own validator is built if it is used alone.
    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, alias_generator=_kebab, defer_build=True
    )
