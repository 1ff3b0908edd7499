"""The content of a message as a tree, and the changes of one node of it by its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias

Node: TypeAlias = Any
"""An ``Object``, an ``Array``, a ``Literal``, or a value of a binary format."""
Path: TypeAlias = tuple[int, ...]
"""The indexes of members and elements."""


@dataclass
class Object:
    """Named members in their order; a name may come twice.

    :param fixed: whether its form requires exactly these members, such as a record of Avro.
    """

    members: list[list[Any]]
    fixed: bool = False


@dataclass
class Array:
    """Elements in their order.

    :param fixed: whether its form requires exactly this number of elements.
    """

    elements: list[Node]
    fixed: bool = False


class Literal(str):
    """The text of a JSON literal, each character a byte."""

    __slots__ = ()


@dataclass(frozen=True)
class Padded:
    """A number whose variable-length form has one byte more than it needs."""

    number: int


@dataclass(frozen=True)
class Fixed:
    """Bytes whose number the format fixes, such as those of a float."""

    content: bytes


def nodes(root: Node) -> Iterator[tuple[tuple[str, ...], Path, Node]]:
    """Yield the names on the path of every node, its path, and the node itself."""
    stack: list[tuple[tuple[str, ...], Path, Node]] = [((), (), root)]
    while stack:
        names, path, node = stack.pop()
        yield names, path, node
        match node:
            case Object():
                stack += [
                    ((*names, name), (*path, index), child)
                    for index, (name, child) in reversed([*enumerate(node.members)])
                ]
            case Array():
                stack += [
                    ((*names, "[]"), (*path, index), child)
                    for index, child in reversed([*enumerate(node.elements)])
                ]


def _slots(parent: Node) -> list[Any]:
    return parent.members if isinstance(parent, Object) else parent.elements


def _parent(root: Node, path: Path) -> Node:
    for index in path[:-1]:
        slot = _slots(root)[index]
        root = slot[1] if isinstance(root, Object) else slot
    return root


def replaced(path: Path, value: Node) -> Callable[[Node], Node]:
    """Return a function that replaces the node at a path."""

    def apply(root: Node) -> Node:
        if not path:
            return value
        copy = deepcopy(root)
        parent, index = _parent(copy, path), path[-1]
        if isinstance(parent, Object):
            parent.members[index][1] = value
        else:
            parent.elements[index] = value
        return copy

    return apply


def edited(path: Path, edit: Callable[[list[Any], int], None]) -> Callable[[Node], Node]:
    """Return a function that edits the list of members or elements that has the node at a path."""

    def apply(root: Node) -> Node:
        copy = deepcopy(root)
        edit(_slots(_parent(copy, path)), path[-1])
        return copy

    return apply


def _remove(slots: list[Any], index: int) -> None:
    del slots[index]


def _twin(slots: list[Any], index: int) -> None:
    slots.insert(index, deepcopy(slots[index]))


def _swap(slots: list[Any], index: int) -> None:
    other = index + 1 if index + 1 < len(slots) else index - 1
    slots[index], slots[other] = slots[other], slots[index]


def _swap_values(slots: list[Any], index: int) -> None:
    other = index + 1 if index + 1 < len(slots) else index - 1
    slots[index][1], slots[other][1] = slots[other][1], slots[index][1]


def _rename(slots: list[Any], index: int) -> None:
    slots[index][0] += "x"


Edit: TypeAlias = Callable[[list[Any], int], None]


def _edits(parent: Node, index: int) -> dict[str, Edit]:
    """Return the edits of one member or element that its object or list allows."""
    edits: dict[str, Edit] = {}
    slots = _slots(parent)
    if not parent.fixed:
        edits |= {"removed": _remove, "added twin": _twin}
    if isinstance(parent, Object) and not parent.fixed:
        edits |= {"renamed": _rename, "in another order": _swap}
    other = index + 1 if index + 1 < len(slots) else index - 1
    if isinstance(parent, Array):
        edits["swapped"] = _swap
    elif not parent.fixed or _alike(slots[index][1], slots[other][1]):
        edits["swapped"] = _swap_values
    return edits if len(slots) > 1 else {kind: edits[kind] for kind in edits.keys() & _ALONE}


def _alike(member: Node, other: Node) -> bool:
    """Return whether a fixed form takes either of two members in the place of the other."""
    return type(member) is type(other) and type(member) not in (Object, Array)


_ALONE = frozenset({"removed", "added twin", "renamed"})
"""The edits of a member or element that has no sibling."""


Change: TypeAlias = Callable[[Node], Node]
"""Returns a changed copy of a message."""


def changes_at(root: Node, path: Path, others: Mapping[str, Node]) -> dict[str, Change]:
    """Return the changes of one node of a message, by their kind.

    :param others: the other values that the node may take.
    """
    changes = {kind: replaced(path, value) for kind, value in others.items()}
    if path:
        edits = _edits(_parent(root, path), path[-1])
        changes |= {kind: edited(path, edit) for kind, edit in edits.items()}
    return changes
