"""One Spark session for all tests: a JVM takes seconds to start."""

import gc
import os
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.crawls.harness import ROOT
from tests.offline.conftest import environment, run, run_with_input

__all__ = ["environment", "java", "run", "run_with_input", "spark"]

HERE = Path(__file__).parent
WARNINGS = (
    "unclosed <socket:ResourceWarning",
    "distutils Version classes are deprecated:DeprecationWarning",  # 3.5
)
CONFIG = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.executorEnv.PYTHONPATH": str(ROOT),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Tests have few rows: to compile code for them takes longer than to do without.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="session")
def java() -> str:
    """The path of a Java runtime. Without one the test is skipped."""
    found = shutil.which("java")
    if found is None:
        pytest.skip("no Java runtime: apt install default-jre-headless")
    return found


@pytest.fixture
def apart(java: str, tmp_path) -> dict[str, str]:
    """The variables of a process that starts a Spark of its own."""
    (tmp_path / "conf").mkdir()
    settings = CONFIG | {"spark.local.dir": str(tmp_path / "local")}
    (tmp_path / "conf/spark-defaults.conf").write_text(
        "".join(f"{name} {value}\n" for name, value in settings.items())
    )
    folders = str(Path(sys.executable).parent), os.environ["PATH"]
    return {
        **os.environ,
        "PATH": os.pathsep.join(folders),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),
        "SPARK_CONF_DIR": str(tmp_path / "conf"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def connect_server() -> dict[str, str]:
    """Return what lets the session serve clients of Spark Connect, on a free port of loopback."""
    if version("pyspark") < "4":
        return {}
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return {
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }


@pytest.fixture(scope="session")
def spark(java: str, tmp_path_factory) -> Iterator[SparkSession]:
    """A local Spark with two cores, in a JVM of its own."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for name, value in (CONFIG | connect_server()).items():
        builder = builder.config(name, value)
    folder = tmp_path_factory.mktemp("spark")
    builder = builder.config("spark.local.dir", str(folder))
    session = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    gateway = session.sparkContext._gateway
    assert gateway is not None
    gateway.shutdown()
    gateway.proc.stdin.close()  # the JVM ends with it
    gateway.proc.wait(60)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items) -> None:
    """Let PySpark leave its sockets on loopback to the garbage collector."""
    for item in items:
        if HERE in item.path.parents:
            for warning in WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{warning}"))


@pytest.fixture(autouse=True)
def _sockets_are_closed_where_they_were_opened(request) -> Iterator[None]:
    yield
    if "spark" not in request.fixturenames:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
