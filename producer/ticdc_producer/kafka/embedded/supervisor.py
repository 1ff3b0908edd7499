"""The process between the parent and the broker: it ends the broker when the parent ends or is killed.

Run by path, with the standard library only: ``supervisor.py PARENT FOLDER WRITTEN ARCHIVE COMMAND…``

The parent's end of the supervisor's standard input closes when the parent stops the broker, and also when the
parent is killed; the supervisor then ends the broker. PARENT is the parent's process id, or 0 for a broker
that outlives its parent: then only SIGTERM ends it. FOLDER, empty for none, is removed after the supervisor
has ended the broker; if the broker ended by itself, the folder remains and holds the log with the reason.
WRITTEN, empty for none, is a file that the broker writes when it ends, which takes it some seconds more. It
is renamed to ARCHIVE if the parent had sent SIGUSR1, because the broker accepted requests: the file of a
broker that was ended before lacks classes, and would never be replaced.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

end_requested, ready = threading.Event(), threading.Event()
ENDED_BY_REQUEST = 128 + signal.SIGTERM
"""The status of a JVM that has received SIGTERM and has ended by itself."""

GRACE_SECONDS = 10.0  # a broker needs 0.3 s for its own shutdown; killing it then loses nothing
WRITE_SECONDS = 60.0
CHECK_SECONDS = 1.0


def main() -> int:
    """Run the broker to its end and return its exit status."""
    parent, folder, (written, archive, *command) = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    grace = GRACE_SECONDS + (WRITE_SECONDS if written else 0)
    signal.signal(signal.SIGUSR1, lambda *_: ready.set())
    broker = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=end, args=[broker, grace]).start())
    if parent:
        threading.Thread(target=end_with_parent, args=[broker, parent, grace], daemon=True).start()
    status = broker.wait()
    if written:
        install(written, archive, complete=ready.is_set() and status == ENDED_BY_REQUEST)
    if folder and end_requested.is_set():
        shutil.rmtree(folder, ignore_errors=True)
    return status if status >= 0 else 128 - status


def install(written: str, archive: str, *, complete: bool) -> None:
    """Rename a file that the broker has written, or remove an incomplete one."""
    with contextlib.suppress(OSError):  # the broker has written none
        if complete:
            Path(written).replace(archive)
        else:
            Path(written).unlink()


def end_with_parent(broker: subprocess.Popen[bytes], parent: int, grace: float) -> None:
    """End the broker as soon as the parent closes its end of our standard input, or has ended.

    The second condition is for parents that forked: their children hold the pipe open.
    """
    while os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin], [], [], CHECK_SECONDS)
        if readable:
            break
    end(broker, grace)


def end(broker: subprocess.Popen[bytes], grace: float) -> None:
    """End the broker by SIGTERM, after a grace period by SIGKILL."""
    end_requested.set()
    broker.terminate()
    try:
        broker.wait(grace)
    except subprocess.TimeoutExpired:
        broker.kill()


if __name__ == "__main__":
    sys.exit(main())
