"""A real Spark Connect server in a throw-away folder on loopback, with executors in processes."""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import psutil

from tests.services.programs import free_port, wait_until

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "build" / "spark" / "pyspark"  # of `make test-long`
SAFE = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.io.encryption.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "false",
    "spark.log.level": "ERROR",
}
_QUIET = """
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""
# Nothing here lives long enough for the second compiler to pay: half the CPU.
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
START_SECONDS = 180


class Spark:
    """`folder` holds all that it writes. Killed by its process's group: executors are children of it."""

    @staticmethod
    def missing():
        if not shutil.which("java"):
            return "Java is not installed (openjdk-17-jre-headless)"
        return "" if HOME.is_dir() else "Spark is not installed: make build/spark"

    def __init__(
        self,
        folder,
        settings=SAFE,
        *,
        master="local-cluster[2,1,1536]",
        asks_for_token=True,
        java_options=JAVA_OPTIONS,
    ):
        self.folder, self.port, self.token = Path(folder), free_port(), secrets.token_hex(16)
        self.connect = f"sc://localhost:{self.port}"
        self._master, self._asks_for_token, self._java_options = master, asks_for_token, java_options
        self._pids = set()
        self.scratch = self.folder / "scratch"
        self.temporary = self.folder / "tmp"
        self.scratch.mkdir(parents=True)
        self.temporary.mkdir()
        (self.folder / "token").write_text(self.token)
        self._configure(settings)
        self.process = None

    @classmethod
    @contextlib.contextmanager
    def started(cls, settings=SAFE, **options):
        with tempfile.TemporaryDirectory(prefix="hazemap-spark-") as folder:
            server = cls(folder, settings, **options)
            try:
                server.start()
                yield server
            finally:
                server.kill()

    @classmethod
    @contextlib.contextmanager
    def shared(cls, folder):
        """One server for all processes of a run of tests: the first starts it, the last kills it.

        Each user holds a shared lock, which also goes with a process that dies.
        """
        facts, users = Path(folder) / "spark.json", (Path(folder) / "users").open("w")
        with users:
            with _alone(folder):
                fcntl.flock(users, fcntl.LOCK_SH)
                if not facts.exists():
                    server = cls(tempfile.mkdtemp(prefix="hazemap-spark-"))
                    try:
                        server.start()
                    except BaseException:
                        server.kill()
                        raise
                    told = {"pid": server.process.pid, "port": server.port, "token": server.token}
                    facts.write_text(json.dumps(told | {"folder": str(server.folder)}))
            server = cls._of(json.loads(facts.read_text()))
            try:
                yield server
            finally:
                with _alone(folder):
                    fcntl.flock(users, fcntl.LOCK_UN)
                    with contextlib.suppress(BlockingIOError):
                        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        server.kill()
                        facts.unlink()
                        shutil.rmtree(server.folder, ignore_errors=True)

    @classmethod
    def _of(cls, facts):
        """One that another process started."""
        server = cls.__new__(cls)
        server.folder, server.port, server.token = Path(facts["folder"]), facts["port"], facts["token"]
        server.connect = f"sc://localhost:{server.port}"
        server.process = psutil.Process(facts["pid"])
        return server

    @property
    def token_file(self):
        return self.folder / "token"

    @property
    def output(self):
        return self.folder / "output"

    def start(self):
        home = self._home()
        command = [str(home / "bin" / "spark-submit"), "--master", self._master, "--class"]
        command += [
            "org.apache.spark.sql.connect.service.SparkConnectServer",
            "--name",
            "lake",
            "spark-internal",
        ]
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        environment |= {
            "JAVA_TOOL_OPTIONS": self._java_options,
            "SPARK_HOME": str(home),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_HOSTNAME": "localhost",
            "SPARK_LOCAL_DIRS": str(self.scratch),
        }
        if self._asks_for_token:
            environment["SPARK_CONNECT_AUTHENTICATE_TOKEN"] = self.token
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        wait_until(self.listens, seconds=START_SECONDS, what="the Spark Connect server's answer")

    def listens(self):
        if self.process.poll() is not None:
            raise AssertionError("Spark ended: " + self.output.read_text()[-2000:])
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def executors(self):
        return [one for one in self._children() if "CoarseGrainedExecutorBackend" in " ".join(_command(one))]

    def kill(self):
        """SIGKILL to the server and all executors."""
        if self.process is None:
            return
        pids = [one.pid for one in self._children()]
        for pid in [self.process.pid, *pids]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if isinstance(self.process, subprocess.Popen):
            self.process.wait(timeout=60)
        else:  # its parent may not look after it any more
            wait_until(lambda: not lives(self.process), seconds=60, what="the end of Spark")

    def kill_executor(self):
        """SIGKILL to one executor; False where none runs."""
        for executor in self.executors():
            with contextlib.suppress(psutil.NoSuchProcess):
                executor.kill()
                return True
        return False

    def _home(self):
        """Executors write below Spark's own folder, whatever is set: here one that goes with the others."""
        home = self.folder / "home"
        if not home.is_dir():
            home.mkdir()
            for part in ("bin", "jars", "sbin"):
                (home / part).symlink_to(HOME / part)
        return home

    def _children(self):
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def _configure(self, settings):
        conf = self.folder / "conf"
        conf.mkdir()
        (conf / "log4j2.properties").write_text(_QUIET)
        java = f"-Djava.io.tmpdir={self.temporary}"
        lines = {
            "spark.driver.extraJavaOptions": java,
            "spark.executor.extraJavaOptions": java,
            "spark.authenticate.secret": secrets.token_hex(16),
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": self.port,
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.executor.memory": "1200m",
            "spark.local.dir": self.scratch,
            "spark.sql.shuffle.partitions": 8,
            "spark.sql.warehouse.dir": self.folder / "warehouse",
            **settings,
        }
        text = "".join(f"{key} {value}\n" for key, value in lines.items())
        (conf / "spark-defaults.conf").write_text(text)


def lives(process):
    """Whether a psutil.Process still does anything."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextlib.contextmanager
def _alone(folder):
    with (Path(folder) / "alone").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []
