"""The words by which Canal-JSON and Simple name kinds of DDL."""

from __future__ import annotations

from collections.abc import Mapping

_OTHERS = "QUERY"


class DDLWords:
    """The words of one protocol.

    :param actions: word to TiDB's action codes (tidb ``pkg/meta/model/job.go``); other DDLs are ``QUERY``.
    """

    def __init__(self, actions: Mapping[str, tuple[int, ...]]) -> None:
        self._actions = dict(actions)
        self._words = {action: word for word, codes in actions.items() for action in codes}
        self.all = frozenset({*actions, _OTHERS})

    def of(self, action: int) -> str:
        """The word for a DDL of TiDB's action code."""
        return self._words.get(action, _OTHERS)

    def told_action(self, word: str) -> int:
        """The action code that a word tells: its only one, else 0.

        RENAME tells 14, since a DDL that renames several tables is sent as one event per table, each of
        that code.
        """
        codes = self._actions.get(word, ())
        return codes[0] if len(codes) == 1 or word == "RENAME" else 0
