"""Ways to check many captures: a pool of processes here, or a Dask cluster. All give the same rows."""

from __future__ import annotations

import importlib
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from workbench.exceptions import WorkbenchError
from workbench.fleet.captures import Capture
from workbench.fleet.one import Asked, Row, check_one, check_some

Engine = Callable[[Sequence[Capture], Asked], Iterator[Row]]
#: captures that one task of a process takes, so that small ones do not cost more to send than to check
_CHUNK = 16
#: bytes above which a capture is a task of its own
_LARGE = 8 * 1024 * 1024
#: tasks after which a process is replaced by a fresh one, whose memory is not in pieces
_TASKS = 256


def local(jobs: int = 0) -> Engine:
    """A pool of processes, as many as there are processors. A process that dies takes one capture along, and no more."""
    workers = jobs or os.cpu_count() or 1

    def engine(some: Sequence[Capture], asked: Asked) -> Iterator[Row]:
        if workers == 1 and len(some) == 1:
            yield check_one(some[0], asked)
            return
        waiting = _chunks(some)
        while waiting:
            suspects: list[list[Capture]] = []
            yield from _pooled(waiting, asked, workers, suspects)
            # a chunk that was under way when a process died is tried again, a capture at a time
            waiting = []
            yield from _one_by_one([capture for chunk in suspects for capture in chunk], asked)

    return engine


def _chunks(some: Sequence[Capture]) -> list[list[Capture]]:
    chunks: list[list[Capture]] = []
    held: list[Capture] = []
    for capture in some:
        if capture.size > _LARGE or capture.size < 0:
            chunks.append([capture])
            continue
        held.append(capture)
        if len(held) == _CHUNK:
            chunks.append(held)
            held = []
    return [*chunks, held] if held else chunks


def _pool(workers: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, max_tasks_per_child=_TASKS)


def _pooled(
    chunks: list[list[Capture]], asked: Asked, workers: int, suspects: list[list[Capture]]
) -> Iterator[Row]:
    left = list(reversed(chunks))
    while left:
        running: dict[Future[list[Row]], list[Capture]] = {}
        with _pool(workers) as pool:
            broken = False
            while (left and not broken) or running:
                while left and not broken and len(running) < 2 * workers:
                    chunk = left.pop()
                    try:
                        running[pool.submit(check_some, chunk, asked)] = chunk
                    except BrokenProcessPool:
                        left.append(chunk)
                        broken = True
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    chunk = running.pop(future)
                    try:
                        yield from future.result()
                    except BrokenProcessPool:
                        broken = True
                        suspects.append(chunk)


def _one_by_one(some: Sequence[Capture], asked: Asked) -> Iterator[Row]:
    """With one process, so that it is known at which capture it dies; then there is another."""
    left = list(reversed(some))
    while left:
        with _pool(1) as pool:
            while left:
                capture = left.pop()
                try:
                    yield pool.submit(check_one, capture, asked).result()
                except BrokenProcessPool:
                    yield _unchecked(
                        capture, asked, "the process that checked it ended: killed, or out of memory"
                    )
                    break


def _unchecked(capture: Capture, asked: Asked, problem: str) -> Row:
    """The row of a capture that could not be checked, and why."""
    row = check_one(Capture(capture.name, (), capture.size, capture.written), asked)
    row["key"], row["problem"] = capture.key, problem
    return row


def dask(address: str = "", *, jobs: int = 0, retries: int = 3, patience: float = 20) -> Engine:
    """A Dask cluster at an address, or one of processes here. A task whose worker is lost is run again elsewhere.

    `patience` is how many seconds the scheduler may take to answer. Every worker has to have the workbench, and to see the captures under the same names. Raises
    `WorkbenchError` where `dask.distributed` is missing or the scheduler is not there.
    """

    def engine(some: Sequence[Capture], asked: Asked) -> Iterator[Row]:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            raise WorkbenchError(
                'the engine dask needs dask.distributed: pip install "agui-workbench[fleet]"'
            ) from None
        cluster: Any = None
        if not address:
            cluster = distributed.LocalCluster(
                n_workers=jobs or os.cpu_count() or 1, threads_per_worker=1, processes=True, dashboard_address=None,
                host="127.0.0.1",
            )  # fmt: skip
        try:
            client = distributed.Client(address or cluster, timeout=patience, set_as_default=False)
        except OSError as problem:
            raise WorkbenchError(f"no scheduler at {address}: {problem}") from None
        try:
            tasks = {
                client.submit(check_some, chunk, asked, retries=retries, pure=False): chunk
                for chunk in _chunks(some)
            }
            for future in distributed.as_completed(list(tasks), loop=client.loop):
                failure = future.exception()
                if failure is None:
                    yield from future.result()
                else:
                    for capture in tasks[future]:
                        why = f"no worker could check it: {type(failure).__name__}"
                        yield _unchecked(capture, asked, why)
                future.release()
        finally:
            client.close()
            if cluster is not None:
                cluster.close()

    return engine
