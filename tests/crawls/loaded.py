"""Start `python -m MODULE` in a process that has loaded its libraries already.

Loading Scrapy and what reads pages takes a second of each process. Here one process loads them
once, and each command runs in a fork of it, with its own folder, environment and umask. The fork is
a process like any other: it has a pid, and it can be killed. It ends as Python ends, up to the exit
functions: it does not take its modules apart, which is two thirds of the CPU of a small crawl. What
Python reads before it loads anything (`PYTHONHASHSEED`) must be given to a process of `subprocess`.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARIES = [
    "psycopg",
    "redis",
    "scrapy.commands.crawl",
    "scrapy.commands.runspider",
    "simhash_gate.page.markdown",
    "simhash_gate.stores.sqlite",
    "twisted.internet.asyncioreactor",
]


class LoadedProcess:
    """`python -m` with these arguments; it is used as a `subprocess.Popen` is.

    What it prints goes to files, so that it never waits for a reader.
    """

    def __init__(
        self,
        *arguments: str,
        cwd: Path,
        env: dict[str, str] | None = None,
        stdin: str = "",
        umask: int = -1,
    ) -> None:
        self.returncode: int | None = None
        self._stdout = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._stderr = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        wanted = {
            "arguments": arguments,
            "cwd": str(cwd),
            "env": dict(os.environ if env is None else env),
            "umask": umask,
        }
        self._told, tell = socket.socketpair()
        with (
            tell,
            tempfile.TemporaryFile("w+") as request,
            tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        ):
            for file, text in ((request, json.dumps(wanted)), (given, stdin)):
                file.write(text)
                file.seek(0)
            handed_over = (tell, request, given, self._stdout, self._stderr)
            socket.send_fds(_forker(), [b"."], [file.fileno() for file in handed_over])
        self.pid = self._next_number(60)

    @property
    def ended(self) -> bool:
        """Whether what it has printed was read, or nobody can read it any more."""
        return self._stdout.closed

    def poll(self) -> int | None:
        """Return its exit status, or None while it runs."""
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float = 60) -> int:
        """Wait for its end; return its exit status. Raises TimeoutError, and then kills it."""
        if self.returncode is None:
            try:
                self.returncode = self._next_number(timeout)
            except TimeoutError:
                os.kill(self.pid, signal.SIGKILL)
                self.returncode = self._next_number(timeout)
                self._stdout.close()
                self._stderr.close()
                raise
            finally:
                self._told.close()
        return self.returncode

    def communicate(self, timeout: float = 60) -> tuple[str, str]:
        """Wait for its end; return what it has printed to stdout and to stderr."""
        self.wait(timeout)
        with self._stdout as stdout, self._stderr as stderr:
            for file in (stdout, stderr):
                file.seek(0)
            return stdout.read(), stderr.read()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _next_number(self, timeout: float) -> int:
        """Return the number on the next line that its parent writes. Raises TimeoutError."""
        self._told.settimeout(timeout)
        line = b""
        while not line.endswith(b"\n"):
            part = self._told.recv(1)
            if not part:
                raise EOFError("the process that starts others is gone")
            line += part
        return int(line)


@cache
def _forker() -> socket.socket:
    """Start the process that loads the libraries; return the way to it."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno())],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _load() -> None:
    import simhash_gate

    for name in LIBRARIES:
        import_module(name)
    for value in vars(import_module("scrapy.settings.default_settings")).values():
        for name in [*value, *value.values()] if isinstance(value, dict) else [value]:
            if isinstance(name, str) and name.startswith("scrapy."):
                import_module(name.rpartition(".")[0])
    for command in entry_points(group="scrapy.commands"):  # which Scrapy loads at every start
        command.load()
    for name in simhash_gate.__all__:
        getattr(simhash_gate, name)
    assert "twisted.internet.reactor" not in sys.modules, "each crawl chooses its own"
    gc.freeze()


def _next_request(way: socket.socket) -> list[int]:
    """Wait for a request; return its files in a fork. This process itself never returns."""
    while True:
        message, files, _, _ = socket.recv_fds(way, 1, 5)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not message:
            sys.exit()
        if os.fork() == 0:
            break
        for file in files:
            os.close(file)
    way.close()
    tell = files.pop(0)
    child = os.fork()
    if child:
        os.write(tell, b"%d\n" % child)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(tell, b"%d\n" % status)
        os._exit(0)
    os.close(tell)
    return files


def _become(request: int, *standard: int) -> str:
    """Take on what is asked for, and the standard streams; return the module to run."""
    with os.fdopen(request, encoding="utf-8") as file:
        wanted = json.load(file)
    for number, given in enumerate(standard):
        os.dup2(given, number)
        os.close(given)
    os.environ.clear()
    os.environ.update(wanted["env"])
    os.chdir(wanted["cwd"])
    if wanted["umask"] >= 0:
        os.umask(wanted["umask"])
    own = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:2] = [wanted["cwd"], *filter(None, own)]  # in the place of this folder and the root
    sys.argv = wanted["arguments"]
    return str(sys.argv[0])


class _End:
    """Ends this process as the last exit function, after those that libraries register later."""

    status = 1

    def __init__(self) -> None:
        atexit.register(self._leave)

    def _leave(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(self.status)


if __name__ == "__main__":
    end = _End()
    _load()
    module = _become(*_next_request(socket.socket(fileno=int(sys.argv[1]))))
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        end.status = 0
    except SystemExit as why:
        end.status = why.code if isinstance(why.code, int) else int(why.code is not None)
        raise
