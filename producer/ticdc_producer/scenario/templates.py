"""The shipped scenarios as texts: to read, and as templates of a user's own scenarios."""

from __future__ import annotations

import re
from pathlib import Path

from ticdc_producer.errors import ScenarioError
from ticdc_producer.hints import nearest
from ticdc_producer.scenario.load import shipped

_ENDING = ".yaml"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
"""Names that are also names of topics."""
_SCHEMA = re.compile(r"# yaml-language-server:.*\n(#\n)?")
"""The first line of a shipped scenario; its path is relative to the scenario's folder."""


def shipped_text(name: str) -> str:
    """Return the text of a shipped scenario.

    :raises ScenarioError: if there is none of this name.
    """
    library = shipped()
    if name not in library:
        raise ScenarioError(f"there is no shipped scenario {name!r}", hint=nearest(name, library))
    return library[name].read_text(encoding="utf-8")


def write_from_template(name: str, template: str, folder: Path) -> Path:
    """Write a new scenario with the content of a shipped one, under its own name and topic.

    :param name: with or without ``.yaml``.
    :param template: name of a shipped scenario.
    :raises ScenarioError: for a name that no topic can have, an unknown template, and if the file exists or
        cannot be written.
    """
    text = shipped_text(template)
    stem = name.removesuffix(_ENDING)
    if stem.endswith((".sql", ".yml")):
        what, hint = "a template is YAML", f"name it {Path(stem).stem}"
        raise ScenarioError(what, file=name, hint=hint)
    if not _NAME.fullmatch(stem):
        hint = "letters, digits, '.', '_' and '-'; the file is written to the current folder"
        raise ScenarioError("this cannot be the name of a scenario and of its topic", file=name, hint=hint)
    path = folder / f"{stem}{_ENDING}"
    own = _SCHEMA.sub("", text, count=1)
    own = re.sub(rf"^name: {re.escape(template)}$", f'name: "{stem}"', own, count=1, flags=re.MULTILINE)
    own = own.replace(f"kafka:///{template}?", f"kafka:///{stem}?", 1)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(own)
    except FileExistsError:
        raise ScenarioError("the file exists", file=str(path), hint="choose another name") from None
    except OSError as error:
        raise ScenarioError(f"cannot be written: {error.strerror}", file=str(path)) from None
    return path
