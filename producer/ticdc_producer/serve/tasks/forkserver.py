"""The process that forks those of tasks: it has no threads of its own, and all modules that they need."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerContext

from ticdc_producer.protocols.registry import BUILT_IN

_NAMES = ("tasks.child", "tasks.work", "request_process", "preview")
_MODULES = tuple(f"ticdc_producer.serve.{name}" for name in _NAMES)


def started_forkserver() -> ForkServerContext:
    """Return the context that starts processes. Its forkserver starts in the background, unless it runs."""
    context = multiprocessing.get_context("forkserver")
    codecs = [spec.encoder.__module__.rpartition(".")[0] for spec in BUILT_IN.values()]
    # The forkserver leaves out modules that do not exist, such as a decoder of CSV.
    parts = [f"{codec}.{part}" for codec in codecs for part in ("encoder", "decoder")]
    context.set_forkserver_preload([*_MODULES, *parts])
    resource_tracker.ensure_running()  # when it starts, it ends the block of signals below
    # Ctrl-C at the terminal ends the service, which ends these processes.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context
