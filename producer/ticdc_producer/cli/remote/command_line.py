"""A command line that ``server_client`` sends, with the files that it names."""

from __future__ import annotations

from dataclasses import dataclass, field

from ticdc_producer.cli.remote.frames import parts_of, read_frames, text_of
from ticdc_producer.errors import FolderError, RefusedRequest, ScenarioError

_MOST_ARGUMENTS = 1000


@dataclass
class CommandLine:
    """A posted command line.

    :param files: the content of each file that the client has sent, by path and by path in a folder.
    :param folders: the paths that are folders.
    :param unreadable: why a file could not be read, by path.
    :param prepared: whether the client has sent the files that the service requires.
    :param before: the run whose result a watched run is compared with.
    """

    arguments: list[str] = field(default_factory=list)
    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    unreadable: dict[str, str] = field(default_factory=dict)
    prepared: bool = False
    colours: bool = False
    before: str = ""

    def text(self, path: str) -> str:
        """Return the content of a text file.

        :raises ScenarioError: if the client could not read it.
        """
        if path in self.folders or path not in self.files:
            why = "Is a directory" if path in self.folders else self.unreadable.get(path, "it was not sent")
            raise ScenarioError(f"cannot read the file: {why}", file=path)
        try:
            return self.files[path][""].decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ScenarioError("the file is not UTF-8", file=path) from None

    def content(self, path: str) -> dict[str, bytes]:
        """Return the content of a file, or the files of a folder.

        :raises FolderError: if the client could not read it.
        """
        if path in self.unreadable:
            raise FolderError(f"cannot be read: {self.unreadable[path]}", path=path)
        return self.files.get(path, {})


def read_command_line(body: bytes) -> CommandLine:
    """Read the command line in the body of a request.

    :raises RefusedRequest: for a body that is none.
    """
    line = CommandLine()
    try:
        for name, content in read_frames([body]):
            if name == "argument":
                if len(line.arguments) == _MOST_ARGUMENTS:
                    what = f"the command line has more than {_MOST_ARGUMENTS} arguments"
                    raise RefusedRequest(what, status=413)
                line.arguments.append(text_of(content))
            elif name == "file":
                path, entry, data = parts_of(content, 3)
                line.files.setdefault(text_of(path), {})[text_of(entry)] = data
            elif name == "folder":
                line.folders.add(text_of(content))
            elif name == "unreadable":
                path, why = parts_of(content, 2)
                line.unreadable[text_of(path)] = text_of(why)
            elif name == "before":
                line.before = text_of(content)
            elif name in ("prepared", "colours"):
                setattr(line, name, True)
    except ValueError as error:
        raise RefusedRequest(str(error), status=400) from None
    return line
