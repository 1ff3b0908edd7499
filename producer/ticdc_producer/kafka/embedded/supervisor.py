"""The process between us and the broker: it ends the broker when we are gone, however we went.

Run by path, with the standard library only: ``supervisor.py PARENT FOLDER COMMAND…``

Our end of its standard input closes when we stop the broker, and also when we are killed; that is
the signal to end. PARENT is our process id, 0 for a broker that outlives us: then only SIGTERM
ends it. FOLDER, empty for none, is removed when the broker was ended so; after one that ended by
itself it holds the log that says why.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import threading

asked_to_end = threading.Event()

GRACE_SECONDS = 10.0  # a broker needs 0.3 s for its own shutdown; killing it then loses nothing
CHECK_SECONDS = 1.0


def main() -> int:
    """Run the broker to its end and return its exit status."""
    parent, folder, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    broker = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=end, args=[broker]).start())
    if parent:
        threading.Thread(target=end_with_parent, args=[broker, parent], daemon=True).start()
    status = broker.wait()
    if folder and asked_to_end.is_set():
        shutil.rmtree(folder, ignore_errors=True)
    return status if status >= 0 else 128 - status


def end_with_parent(broker: subprocess.Popen[bytes], parent: int) -> None:
    """End the broker as soon as the parent closes its end of our standard input, or is gone.

    The second matters where the parent forked: its children hold that end open after it.
    """
    while os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin], [], [], CHECK_SECONDS)
        if readable:
            break
    end(broker)


def end(broker: subprocess.Popen[bytes]) -> None:
    """Ask the broker to end, then make it."""
    asked_to_end.set()
    broker.terminate()
    try:
        broker.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        broker.kill()


if __name__ == "__main__":
    sys.exit(main())
