"""The keywords by which Canal-JSON and Simple name the kinds of DDL."""

from __future__ import annotations

_OTHERS = "QUERY"
_ACTIONS: dict[str, tuple[int, ...]] = {
    "CREATE": (3,),
    "RENAME": (14, 47),
    "CINDEX": (7, 9, 32),
    "DINDEX": (8, 10, 33),
    "ERASE": (4,),
    "TRUNCATE": (11,),
    "ALTER": (5, 6, 12, 13, 15, 17, 18, 19, 20, 22, 23, 41, 61, 64, 71, 72),
}


class DDLKeywords:
    """The DDL keywords of one protocol.

    They map to TiDB's action codes (tidb ``pkg/meta/model/job.go``). Other DDLs are ``QUERY``.

    :param altering: action codes that are ``ALTER`` in this protocol alone.
    """

    def __init__(self, *altering: int) -> None:
        actions = {**_ACTIONS, "ALTER": (*_ACTIONS["ALTER"], *altering)}
        self._actions = actions
        self._keywords = {action: keyword for keyword, codes in actions.items() for action in codes}
        self.all = frozenset({*actions, _OTHERS})

    def of(self, action: int) -> str:
        """Return the keyword of a DDL with TiDB's action code."""
        return self._keywords.get(action, _OTHERS)

    def action_code(self, keyword: str) -> int:
        """Return the action code of a keyword; 0 if it has several.

        RENAME is 14: a DDL that renames several tables is sent as one event per table, each with that code.
        """
        codes = self._actions.get(keyword, ())
        return codes[0] if len(codes) == 1 or keyword == "RENAME" else 0
