"""A service that is killed while its task ignores everything: prints the ids of the processes of tasks."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

import psutil

from tests.serve import works
from tests.serve.service_app import no_text
from ticdc_producer.serve.settings import Limits
from ticdc_producer.serve.tasks.child_process import Children
from ticdc_producer.serve.tasks.task import Task
from ticdc_producer.serve.tasks.work import Texts
from ticdc_producer.serve.tasks.worker import Worker


async def _runs(task: Task) -> None:
    async for change in task.changes():
        if change is not None and change["event"] == "step":
            return


def main() -> None:
    folder = Path(tempfile.mkdtemp(dir=sys.argv[1]))
    children = Children(folder, Texts(no_text, no_text))
    worker = Worker(folder, Limits(), children)
    worker.start(lambda: None)
    task = worker.submit("run", "endless", works.of(works.ignore_everything))
    asyncio.run(_runs(task))
    print(*(process.pid for process in psutil.Process().children(recursive=True)), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
