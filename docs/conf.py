"""Sphinx: the pages and the API reference as a site (``python -m sphinx -b html docs build/site``)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ticdc_producer import api

project = "ticdc-producer"
author = copyright = "The authors of ticdc-producer"  # noqa: A001 - Sphinx's name
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinxcontrib.mermaid"]
html_theme = "furo"
html_title = project
myst_heading_anchors = 6
myst_fence_as_directive = ["mermaid"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
nitpicky = False

_ROOT = Path(__file__).parents[1]
_OUTSIDE = re.compile(r"\[([^\]]*)\]\((\.\./[^)#\s]+)(#[^)\s]*)?\)")

MENU = {
    "Your consumer": {
        "verifying-your-consumer": "Finding a bug",
        "conformance": "Conformance",
        "vectors": "Vectors",
        "testing": "pytest and Hypothesis",
        "serve": "The service: Java, Go, Node, curl",
        "real-topics": "Real topics in CI",
        "ci": "Recipes for CI",
        "traps": "Traps",
        "faults": "Faults",
        "consumers": "Other consumers",
    },
    "Topics": {
        "scenarios": "Scenarios",
        "sql": "SQL",
        "generate": "Generated volume",
        "python": "From Python",
        "spark": "Topics in Spark jobs",
        "api": "API reference",
        "verifying": "Verifying",
        "diff": "Comparing two topics",
    },
    "Protocols": {
        "protocols": "Side by side",
        "open-protocol": "Open Protocol",
        "avro": "Avro",
        "maxwell": "Maxwell",
        "canal": "Canal",
        "large-messages": "Large messages",
        "storage": "Files instead of topics",
        "profiles": "Profiles: classic and new architecture",
        "documentation-sample": "Documentation sample",
        "fidelity": "Fidelity",
    },
    "Running it": {
        "options": "Options",
        "kafka": "Your Kafka",
        "clusters": "Your Spark",
        "runs": "Long and interrupted runs",
        "performance": "Large runs",
        "limitations": "Limitations",
    },
    "Design": {
        "design": "Design",
        "stream-semantics": "Stream semantics",
        "glossary": "Glossary",
    },
    "Extending": {
        "extending/protocol": "A protocol",
        "extending/column-type": "A column type",
        "extending/trap": "A trap",
        "extending/invariant": "An invariant",
        "extending/parameter": "A parameter",
        "extending/dispatch-rule": "A dispatch rule",
        "extending/sql-function": "An SQL function",
        "extending/verifier-column": "A column of the verifier",
        "extending/report-section": "A section of the report",
    },
    "Decisions": {
        "decisions/0001-change-log-and-delivery-key": "Moved rows in the change log, and the delivery key",
        "decisions/0002-images-are-arrays-of-binary": "Row images are arrays of binary",
        "decisions/0003-a-light-session-for-small-scenarios": "A light Spark session for small scenarios",
        "decisions/0004-what-sql-needed": "Consequences of running SQL",
        "decisions/0005-what-a-protocol-does-not-carry": "What a protocol does not carry",
        "decisions/0006-generated-volume": "Generated volume",
        "decisions/0007-runs-that-last": "Long runs: resume and real time",
        "decisions/0008-columns-through-to-messages": "Rows stay Arrow columns until they are messages",
        "decisions/0009-html-report": "The HTML report",
        "decisions/0010-faults": "Faults live in segments of the history",
        "decisions/0011-files-and-registries": "Files without a clock, Avro without a library",
        "decisions/0012-rules-on-arrow-columns": "Rules are functions on Arrow columns",
        "decisions/0013-import-package-ticdc-producer": "The import package is `ticdc_producer`",
        "decisions/0014-folders-follow-the-flow": "The folders follow the flow of the data",
        "decisions/0015-generated-volume-in-numpy": "Generated volume is drawn where it is sent",
        "decisions/0016-state-follows-ddls": "The reference consumer follows DDLs",
        "decisions/0017-a-trap-is-one-class": "A trap is one class",
        "decisions/0018-queries": "Queries of the SQL engine",
        "decisions/0019-random-histories": "Random histories have a generator and a shrinker of their own",
        "decisions/0020-the-service": "The service",
        "decisions/0021-types-of-expressions": "Types of expressions are inferred before rows are computed",
        "decisions/0022-command-lines-are-sent-to-the-service": "Command lines are sent to the service",
        "decisions/0023-deliveries": "An example has several deliveries, and examples share a history",
        "decisions/0024-one-grammar-of-ddl": "One grammar of DDL",
        "decisions/0025-sphinx": "The pages and the API reference are built by Sphinx",
        "decisions/0026-who-verifies-few-messages": "Who has read few messages verifies them",
        "decisions/0027-small-runs-without-spark": "A small run needs no Spark",
        "decisions/0028-one-composition-on-two-engines": "One composition on two engines",
        "decisions/0029-modules-of-one-subject": "Modules of one subject, and words of the field",
        "decisions/0030-bytes-of-messages": "Bytes of messages",
        "decisions/0031-the-writer-of-spark": "The writer of Spark",
        "decisions/0032-recordings": "Recordings",
        "decisions/0033-transcoding-a-topic-that-grows": "Transcoding a topic that grows",
        "decisions/0034-following-on-spark": "Following a topic on Spark",
    },
}
"""The menu: groups of pages with their titles."""


def _with_menu(_app: Any, page: str, source: list[str]) -> None:
    """Append the menu to the first page; make links to files outside of ``docs`` downloads."""
    if "/" not in page:
        source[0] = _OUTSIDE.sub(_file_link, source[0])
    if page == "index":
        source[0] += "".join(_toctree(group, pages) for group, pages in MENU.items())


def _file_link(link: re.Match[str]) -> str:
    path = link[2].removeprefix("../")
    return f"[{link[1]}](path:{link[2]})" if (_ROOT / path).is_file() else link[1]


def _toctree(group: str, pages: dict[str, str]) -> str:
    lines = "\n".join(f"{title} <{page}>" for page, title in pages.items())
    return f"\n\n```{{toctree}}\n:hidden:\n:caption: {group}\n\n{lines}\n```\n"


def _load_public_names() -> None:
    """Load the names of ``ticdc_producer.api``, which load when used: autodoc reads a module's dictionary."""
    for name in api.__all__:
        setattr(api, name, getattr(api, name))


def setup(app: Any) -> None:
    """Register the hook."""
    _load_public_names()
    app.connect("source-read", _with_menu)
