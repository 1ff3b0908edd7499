"""The process in which tasks run, one after the other, until the service closes its connection.

It is the leader of a session: processes that it starts, such as Spark's JVM, are killed with it.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import logging
import os
import signal
import sys
import tempfile
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

from ticdc_producer.config import resolve
from ticdc_producer.errors import EnvironmentFailure, ProducerError
from ticdc_producer.installation import allocate_by_jemalloc
from ticdc_producer.runs.run import run_job
from ticdc_producer.runs.run_options import RunOptions
from ticdc_producer.scenario.load import load_scenario
from ticdc_producer.serve.tasks.child_messages import (
    TEXT_FORMS,
    Message,
    Ready,
    Result,
    TaskFailure,
    failure_of,
    write_message,
)
from ticdc_producer.serve.tasks.work import Texts, Work
from ticdc_producer.simulate.prepare import prepare

_SCENARIO = "seed_t1"


def warm_up(folder: Path, texts: Texts) -> None:
    """Run a scenario into a folder, verify it and print the reports; this loads modules and fills caches.

    :param folder: gets a temporary folder.
    """
    with suppress(ProducerError, OSError), TemporaryDirectory(dir=folder) as name:  # a task will report it
        scenario = load_scenario(_SCENARIO)
        changefeed = resolve("kafka:///warm-up", scenario=scenario.changefeed, name=scenario.name)
        job = prepare(scenario, changefeed=changefeed)
        report = run_job(job, RunOptions(out=Path(name, "golden"), from_beginning=True))
        for form in TEXT_FORMS:
            texts.run(report, *form)


_LOG = logging.getLogger(__name__)
_FIRST_TO_END = "500"
_LONGEST_FOLDER = 64
"""In a longer folder the paths of Spark's sockets would be too long."""


def run_child(connection: Connection, lifeline: Connection, folder: Path, texts: Texts | None) -> None:
    """Do the tasks that arrive.

    :param connection: brings tasks, and takes their messages.
    :param lifeline: is closed by the service, or by the kernel when the service has ended.
    :param folder: gets temporary files.
    :param texts: are printed once before the first task, which then ends sooner; None: nothing is warmed up.
    """
    os.setsid()
    _end_with_service(lifeline)
    if lifeline.poll():  # it was closed before
        return
    _prefer_to_end()
    _use_folder(folder)
    allocate_by_jemalloc()
    gc.freeze()  # the modules that the forkserver has loaded are never garbage
    if texts is not None:
        warm_up(folder, texts)
    service = _Service(connection)
    with suppress(ConnectionError):  # the service has ended
        service.tell(Ready())
        while (work := service.next_work()) is not None:
            service.tell(_outcome(work, service))
    atexit._run_exitfuncs()  # multiprocessing leaves them out


class _Service:
    """The other end of the connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def next_work(self) -> Work | None:
        """Return the next work; None if the service has ended, or wants no more."""
        try:
            work: Work = self._connection.recv()
        except EOFError:
            return None
        return work

    def tell(self, message: Message) -> None:
        """Send a message; in any thread, because a separate thread reports progress."""
        data = write_message(message)
        with self._lock:
            self._connection.send_bytes(data)


def _outcome(work: Work, service: _Service) -> Result | TaskFailure:
    try:
        return work(service.tell)
    except ProducerError as error:
        return failure_of(error)
    except Exception as error:  # this process must outlive every task
        _LOG.exception("a task has failed")
        return failure_of(EnvironmentFailure(f"the run failed: {type(error).__name__}: {str(error)[:500]}"))


def _end_with_service(lifeline: Connection) -> None:
    """Let the kernel kill this process and its children when the service ends, however it ends.

    A thread that waits for that would not run while a task computes in a C library. Systems other than Linux
    have no such signal: there, this process ends after its task.
    """
    if sys.platform == "linux":
        file = lifeline.fileno()
        fcntl.fcntl(file, fcntl.F_SETOWN, -os.getpgrp())  # negative: all processes of the group
        fcntl.fcntl(file, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(file, fcntl.F_SETFL, fcntl.fcntl(file, fcntl.F_GETFL) | os.O_ASYNC)


def _prefer_to_end() -> None:
    """Let the kernel kill this process rather than the service or its Kafka if memory is scarce."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_END, "ascii")


def _use_folder(folder: Path) -> None:
    """Store temporary files of Python and Spark where the service removes them."""
    os.environ["TMPDIR"] = os.environ["SPARK_LOCAL_DIRS"] = tempfile.tempdir = str(folder)
    if len(str(folder)) <= _LONGEST_FOLDER:
        options = os.environ.get("JDK_JAVA_OPTIONS", "")
        os.environ["JDK_JAVA_OPTIONS"] = f'{options} "-Djava.io.tmpdir={folder}"'.strip()
