"""The page in one file, with its data: it opens from a disk, without a service and without a network.

Browsers load no modules from files, so the modules become functions of one script. The policy allows this
script and the style sheet by their hashes, and nothing else. The data are inert: JSON in an element that no
browser runs.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from hashlib import sha256
from html import escape

from ticdc_producer.page.page_files import page_files

_ENTRY = "report.js"
_IMPORT = re.compile(r"^import \{ ([\w, ]+) \} from '\./([\w.]+)'$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


def one_file(title: str, summary: str, data: Mapping[str, object]) -> str:
    """Return the page with its data.

    :param title: of the page.
    :param summary: the text that browsers without scripts display.
    :param data: what ``report.js`` reads.
    """
    style, script = _text("style.css"), _script()
    policy = "; ".join((
        "default-src 'none'",
        f"script-src '{_hash(script)}'",
        f"style-src '{_hash(style)}'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ))  # fmt: skip
    parts = {
        "title": escape(title),
        "summary": escape(summary),
        "policy": escape(policy),
        "style": style,
        "data": _inert(data),
        "script": script,
    }
    return re.sub(r"\{\{ (\w+) \}\}", lambda match: parts[match[1]], _text("report.html"))


def _text(name: str) -> str:
    return page_files()[name][0].decode()


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _inert(data: Mapping[str, object]) -> str:
    """Return JSON that ends no element: it has no ``<``, and ASCII alone."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


@cache
def _script() -> str:
    """Return the modules of the report as one script: each is a function that returns what it exports."""
    modules = [*_modules()]
    numbers = {name: f"module{number}" for number, name in enumerate(modules)}
    parts = ["'use strict'"]
    for name in modules:
        text = _IMPORT.sub(lambda match: f"const {{ {match[1]} }} = {numbers[match[2]]}", _text(name))
        exported = _EXPORT.findall(text)
        body = _EXPORT.sub("", text).replace("\nexport {}\n", "\n")
        parts.append(f"const {numbers[name]} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }}\n}})()")
    return "\n".join(parts) + "\n"


def _modules() -> Iterator[str]:
    """Yield the modules that the report needs, each after those that it imports."""
    imports: dict[str, list[str]] = {}
    needed = [_ENTRY]
    while needed:
        name = needed.pop()
        if name not in imports:
            imports[name] = [match[2] for match in _IMPORT.finditer(_text(name))]
            needed += imports[name]
    yield from TopologicalSorter({name: sorted(of_name) for name, of_name in imports.items()}).static_order()
