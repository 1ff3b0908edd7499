"""Database servers for single tests: a process each, on a free port, with all files in one folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

_MEMORY = Path("/dev/shm")
_MEMORY_BYTES = 1 << 30
"""Free memory from which on the files are in it; an empty MariaDB has 130 MB."""
_POSTGRES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


def _program(name: str, *folders: Path) -> str:
    search_path = os.pathsep.join([*map(str, folders), os.environ["PATH"], "/usr/sbin", "/usr/local/sbin"])
    program = shutil.which(name, path=search_path)
    if program is None:
        pytest.skip(f"not run: no {name}")
    return program


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder, in memory if possible; its path is short, because those of sockets have at most 107 bytes."""
    memory = _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _MEMORY_BYTES
    with tempfile.TemporaryDirectory(prefix="db", dir=_MEMORY if memory else None) as name:
        yield Path(name)


@contextmanager
def mariadb(*options: str) -> Iterator[str]:
    """A MariaDB; its URL without the database.

    :param options: of the server.
    """
    server, install, admin = map(_program, ("mariadbd", "mariadb-install-db", "mariadb-admin"))
    with _folder() as folder:
        data, port, quiet = folder / "data", _free_port(), subprocess.DEVNULL
        common = ["--no-defaults", f"--datadir={data}", "--user=root"]
        normal = "--auth-root-authentication-method=normal"
        subprocess.run([install, *common, normal], check=True, stdout=quiet, stderr=quiet)
        own = [
            f"--socket={folder}/s",
            f"--port={port}",
            "--bind-address=127.0.0.1",
            "--character-set-server=utf8mb4",
            "--innodb-flush-method=nosync",
            "--innodb-flush-log-at-trx-commit=0",
            *options,
        ]
        with subprocess.Popen([server, *common, *own], stdout=quiet, stderr=quiet) as process:
            try:
                command = [admin, "--no-defaults", f"--socket={folder}/s", "--user=root", "--wait=60"]
                subprocess.run([*command, "ping"], check=True, stdout=quiet)
                subprocess.run([*command, "password", "geheim"], check=True, stdout=quiet)
                yield f"mariadb://root:geheim@127.0.0.1:{port}"
            finally:
                process.terminate()


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL; its URL without the database."""
    initdb, control = _program("initdb", *_POSTGRES), _program("pg_ctl", *_POSTGRES)
    with _folder() as folder:
        folder.chmod(0o777)
        become = [_program("runuser"), "-u", "postgres", "--"] if os.geteuid() == 0 else []
        port, quiet = _free_port(), subprocess.DEVNULL
        (folder / "password").write_text("geheim")
        account = ["-U", "tester", "-A", "scram-sha-256", f"--pwfile={folder}/password", "-E", "UTF8", "-N"]
        data = ["-D", f"{folder}/data"]
        subprocess.run([*become, initdb, *data, *account], check=True, stdout=quiet)
        options = f"-p {port} -k {folder} -h 127.0.0.1 -F"
        start = [*become, control, *data, "-w", "-l", f"{folder}/log", "-o", options, "start"]
        subprocess.run(start, check=True, stdout=quiet)
        try:
            yield f"postgresql://tester:geheim@127.0.0.1:{port}"
        finally:
            subprocess.run(
                [*become, control, *data, "-w", "-m", "immediate", "stop"], check=True, stdout=quiet
            )


@contextmanager
def tidb() -> Iterator[str]:
    """A TiDB that stores its rows in a folder; its URL without the database."""
    server = _program("tidb-server")
    with _folder() as folder:
        port = _free_port()
        own = ["-store", "unistore", "-path", f"{folder}/data", "-temp-dir", f"{folder}/tmp", "-L", "info"]
        own += ["-log-slow-query", f"{folder}/slow"]
        network = ["-P", str(port), "-host", "127.0.0.1", "-socket", f"{folder}/s", "-report-status=false"]
        command = [server, *own, *network]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            rest = Thread(target=deque, args=(process.stdout, 0))
            try:
                assert any(b"server is running MySQL protocol" in line for line in process.stdout)
                rest.start()
                yield f"mysql://root@127.0.0.1:{port}"
            finally:
                process.kill()
                rest.join()
