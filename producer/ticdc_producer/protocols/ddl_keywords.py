"""The keywords by which Canal-JSON and Simple name the kinds of DDL."""

from __future__ import annotations

from collections.abc import Mapping

_OTHERS = "QUERY"


class DDLKeywords:
    """The DDL keywords of one protocol.

    :param actions: maps a keyword to TiDB's action codes (tidb ``pkg/meta/model/job.go``). Other DDLs are
        ``QUERY``.
    """

    def __init__(self, actions: Mapping[str, tuple[int, ...]]) -> None:
        self._actions = dict(actions)
        self._keywords = {action: keyword for keyword, codes in actions.items() for action in codes}
        self.all = frozenset({*actions, _OTHERS})

    def of(self, action: int) -> str:
        """The keyword of a DDL with TiDB's action code."""
        return self._keywords.get(action, _OTHERS)

    def action_code(self, keyword: str) -> int:
        """The action code of a keyword; 0 if it has several.

        RENAME is 14: a DDL that renames several tables is sent as one event per table, each with that code.
        """
        codes = self._actions.get(keyword, ())
        return codes[0] if len(codes) == 1 or keyword == "RENAME" else 0
