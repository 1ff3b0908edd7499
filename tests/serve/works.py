"""Work for the process of a task: functions that the process imports, and a request."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pyarrow as pa

from ticdc_producer.serve.tasks.child_messages import Result, StepEvent, Tell
from ticdc_producer.serve.tasks.task import MakeWork
from ticdc_producer.serve.tasks.work import Work

ENDLESS_RUN = {
    "sql": f"""CREATE TABLE a (i INT PRIMARY KEY); CREATE TABLE t (n BIGINT PRIMARY KEY);
INSERT INTO a VALUES {", ".join(f"({number})" for number in range(100))};
INSERT INTO t SELECT COUNT(*) FROM {", ".join(f"a a{number}" for number in range(9))}
WHERE {" + ".join(f"a{number}.i" for number in range(9))} < 0;"""
}
"""A run for years: of a statement that looks at 100^9 combinations of rows, of which none is counted."""


def of(work: Work) -> MakeWork:
    return lambda _task: work


def name_process(_tell: Tell) -> Result:
    return Result(True, {"pid": os.getpid()}, ("", "", "", ""))


def ignore_everything(tell: Tell) -> Result:
    """Compute in C code for years, with all signals blocked."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    tell(StepEvent(str(os.getpid())))
    re.match("(a+)+$", "a" * 100 + "b")
    raise AssertionError("it ended")


def use_memory(tell: Tell) -> Result:
    """Take 32 MiB after the other, and say when it has more than 400 MiB, the limit of the tests."""
    taken = list[bytearray]()
    while len(taken) < 20:
        taken.append(bytearray(b"x") * (32 << 20))
        if len(taken) == 14:
            tell(StepEvent(str(time.time())))
    signal.pause()
    raise AssertionError("it ended")


def use_memory_of_others(tell: Tell) -> Result:
    """Let a process that it starts take the memory."""
    number = os.fork()
    if number == 0:
        use_memory(lambda _event: None)
    tell(StepEvent(str(number)))
    signal.pause()
    raise AssertionError("it ended")


def make_mistake(_tell: Tell) -> Result:
    raise ZeroDivisionError("a mistake")


def crash(_tell: Tell) -> Result:
    signal.pthread_kill(threading.get_ident(), signal.SIGSEGV)
    raise AssertionError("it continues")


def exit_early(_tell: Tell) -> Result:
    os._exit(7)


def leave_child(tell: Tell) -> Result:
    """End, while a process that it has started holds its connection to the service."""
    number = os.fork()
    if number == 0:
        signal.pause()
    tell(StepEvent(str(number)))
    os.abort()


def send_forever(tell: Tell) -> Result:
    while True:
        tell(StepEvent("again"))


def start_process(tell: Tell) -> Result:
    """Wait for a program that does not end; the step has its id."""
    with subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]) as started:
        tell(StepEvent(str(started.pid)))
    raise AssertionError("it ended")


def start_spark(tell: Tell) -> Result:
    """A job of Spark that does not end; the step has the id of its JVM."""
    from ticdc_producer.spark.session import spark_session

    spark = spark_session()
    tell(StepEvent(str(spark.sparkContext._gateway.proc.pid)))
    spark.range(2).mapInArrow(_endless, "id long").collect()
    raise AssertionError("it ended")


def _endless(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        threading.Event().wait()
        yield batch
