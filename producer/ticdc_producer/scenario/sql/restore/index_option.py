"""Options of an index as TiDB prints them: in a fixed order, each once.

Rules: tidb ``pkg/parser/ast/ddl.go`` (``IndexOption``, ``IndexLockAndAlgorithm``).
"""

from __future__ import annotations

from ticdc_producer.scenario.sql.cursor import Cursor
from ticdc_producer.scenario.sql.restore.expression import read_expression
from ticdc_producer.scenario.sql.restore.names import quote_string, read_name, tidb_comment

_ORDER = (
    "CLUSTERED",
    "KEY_BLOCK_SIZE",
    "USING",
    "PARSER",
    "COMMENT",
    "GLOBAL",
    "VISIBLE",
    "SPLIT",
    "ENGINE",
    "WHERE",
)


def read_index_type(cursor: Cursor) -> str:
    """``USING …`` or its older spelling ``TYPE …``; empty without."""
    if not cursor.accept_any("USING", "TYPE"):
        return ""
    kind = cursor.accept_any("BTREE", "HASH", "RTREE", "HYPO", "HNSW", "INVERTED")
    if not kind:
        raise cursor.error("expected an index type")
    return f"USING {kind}"


def read_index_options(cursor: Cursor, kind: str = "") -> str:
    """All options that come next.

    :param kind: ``USING …`` from before the columns; one among the options overrides it.
    """
    found = {"USING": kind}
    while option := _option(cursor):
        found.update(option)
    return " ".join(found[option] for option in _ORDER if found.get(option))


def _option(cursor: Cursor) -> dict[str, str]:
    if cursor.word() in ("USING", "TYPE"):
        return {"USING": read_index_type(cursor)}
    if cursor.accept("KEY_BLOCK_SIZE"):
        cursor.accept("=")
        size = cursor.integer()
        return {"KEY_BLOCK_SIZE": f"KEY_BLOCK_SIZE={size}" if size else ""}
    if cursor.accept("WITH", "PARSER"):
        return {"PARSER": f"WITH PARSER {read_name(cursor)}"}
    if cursor.accept("COMMENT"):
        comment = cursor.string()
        return {"COMMENT": f"COMMENT {quote_string(comment)}" if comment else ""}
    if word := cursor.accept_any("VISIBLE", "INVISIBLE"):
        return {"VISIBLE": word}
    if word := cursor.accept_any("CLUSTERED", "NONCLUSTERED"):
        return {"CLUSTERED": tidb_comment("clustered_index", word)}
    if word := cursor.accept_any("GLOBAL", "LOCAL"):
        return {"GLOBAL": tidb_comment("global_index", word) if word == "GLOBAL" else ""}
    return _rare_option(cursor)


def _rare_option(cursor: Cursor) -> dict[str, str]:
    if cursor.accept("PRE_SPLIT_REGIONS"):
        cursor.accept("=")
        if cursor.word() == "(":
            raise cursor.unsupported("PRE_SPLIT_REGIONS with bounds")
        return {"SPLIT": tidb_comment("pre_split", f"PRE_SPLIT_REGIONS = {cursor.integer()}")}
    if cursor.accept("SECONDARY_ENGINE_ATTRIBUTE"):
        cursor.accept("=")
        return {"ENGINE": f"SECONDARY_ENGINE_ATTRIBUTE = {quote_string(cursor.string())}"}
    if cursor.accept("WHERE"):
        return {"WHERE": f"WHERE {read_expression(cursor)}"}
    return {}


def read_lock_and_algorithm(cursor: Cursor) -> str:
    """ALGORITHM, then LOCK; the value DEFAULT is not printed."""
    found = {"ALGORITHM": "", "LOCK": ""}
    while word := cursor.accept_any("ALGORITHM", "LOCK"):
        cursor.accept("=")
        choice = cursor.identifier().upper()
        found[word] = f" {word} = {choice}" if choice != "DEFAULT" else ""
    return found["ALGORITHM"] + found["LOCK"]
