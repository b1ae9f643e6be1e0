"""`make production-check`: the deployment's own commands as processes of this machine.

Commands, environments, health checks and order are read from the compose files. Only what containers
give is put in their place: names of services and ports become loopback addresses, mounted paths become
folders that are thrown away, and PostgreSQL's cluster is made as its image makes it.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import cache
from http.client import HTTPConnection
from pathlib import Path

import psycopg

from tests.services import compose
from tests.services.http import get, health
from tests.services.installation import ROOT
from tests.services.programs import Postgres, Redis, free_port, wait_until
from tests.sources.spark import HOME as SPARK_HOME
from tests.sources.spark import JAVA_OPTIONS

WEB_KEYS = ("django-secret-key", "second-factor-key")
START_SECONDS = 180  # beside eight busy processes


def main():
    missing = Postgres.missing() or Redis.missing()
    if missing:
        sys.exit(f"production-check needs PostgreSQL and Redis: {missing}")
    with tempfile.TemporaryDirectory(prefix="hazemap-rehearsal-") as folder:
        Path(folder).chmod(0o711)  # PostgreSQL's own user passes through
        with Rehearsal(Path(folder)) as rehearsal:
            rehearsal.age()
            rehearsal.start()
            rehearsal.release()
            rehearsal.folders()
            rehearsal.roles()
            rehearsal.keys()
            rehearsal.shuffler()
            rehearsal.meeting()
    print("production-check: everything was started, used and stopped")


class Rehearsal:
    """All services of analyser and shuffler; leaving it stops every process by its id, the last one first."""

    def __init__(self, folder, file=None):
        self._folder, self._file = folder, file or _ours()
        self._ports = {inside: free_port() for inside in ("8000", "5432", "6379", "8100", "15002")}
        self._stopped = contextlib.ExitStack()
        self._output = folder / "output"
        self.processes = {}

    def __enter__(self):
        self._stopped.__enter__()
        secrets_folder = self._made("secrets")
        for name in self._file.get("secrets", {}):
            path = secrets_folder / name
            path.write_text(secrets.token_hex(32) + "\n")
            path.chmod(0o444)
        for service in self._file["services"]:
            self._write_configs(service)
        return self

    def __exit__(self, *error):
        self._stopped.__exit__(*error)
        leaks = self._passwords() & set(self._output.read_text().split())
        assert not leaks, "a password was logged"
        if error[0] is not None:
            print(self._output.read_text()[-6000:], file=sys.stderr)

    @property
    def web_port(self):
        return self.port("8000")

    def port(self, inside):
        return self._ports[inside]

    def age(self):
        """Puts web's keys where versions without a volume for them had them."""
        folder = self._volume("keys")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        self._older = {secrets.token_urlsafe(64) for _ in WEB_KEYS}
        for name, key in zip(WEB_KEYS, self._older, strict=True):
            (folder / name).write_text(key)

    def start(self):
        """Each service once what it depends on is as it says; then all health checks."""
        for name in compose.in_order(self._file):
            for needed, how in self._service(name).get("depends_on", {}).items():
                self._wait(needed, how["condition"])
            self._start(name)
        for name in self.processes:
            self._wait(name, "service_healthy")

    def release(self):
        """Check-ins taken by web, read by the worker; one release until its page says published."""
        upload = self._asked("upload")
        wait_until(lambda: self._asked("uploaded", upload) == "ready", seconds=60, what="the worker's ingest")
        self.say("upload", "stored by web, read by worker")
        release, session = self._asked("ask"), self._asked("session")
        page = f"/releases/{release}/state/"
        wait_until(
            lambda: "published" in get(self.web_port, page, session=session)[1], seconds=60, what="publishing"
        )
        told = self._asked("state", release)
        assert told == {"state": "published", "spent": 1, "problem": ""}, told
        assert health(self.web_port) == (200, "")
        self.say("release", "published, drawn once, ledger verifies")

    def folders(self):
        """Workers only read what web hands them, and web deletes it; none else writes what web serves."""
        uploads, served = (self._made(f"volume-{name}") for name in ("uploads", "state"))
        wait_until(lambda: not list(uploads.glob("*.raw")), seconds=120, what="the end of the upload's file")
        assert (served / "rendered").is_dir()
        if _may_mount():
            for name in ("worker", "reader"):
                mounted = Path(f"/proc/{self.processes[name].pid}/mounts").read_text()
                assert re.search(rf" {re.escape(str(uploads))} \S+ ro,", mounted), name
        self.say("folders", "workers read uploads, which web deletes; web alone writes what it serves")

    def roles(self):
        """Nobody gets past the rules of the database, whoever takes a process over."""
        for name, role in (("web", "web"), ("worker", "worker"), ("scheduler", "clock")):
            rights = self._asked("rights", service=name)
            read = ["check-ins"] if role == "worker" else []
            assert rights == {"role": f"hazemap_{role}", "granted": read}, rights
        password = (self._made("secrets") / "postgres_password").read_text().strip()
        address = f"postgresql://hazemap:{password}@127.0.0.1:{self.port('5432')}/hazemap"
        with psycopg.connect(address) as owner:
            sees = "has_function_privilege('hazemap_web', 'pg_lock_status()', 'EXECUTE')"
            query = f"SELECT rolsuper, {sees} FROM pg_roles WHERE rolname = current_user"
            assert owner.execute(query).fetchone() == (False, False)
        self.say(
            "roles", "web, worker and clock cannot change events or tables; web and clock read no check-ins"
        )

    def keys(self):
        """Web's are in a folder that no worker mounts, and datasets' beside them in none."""
        mounts = {
            name: [volume.split(":")[:2] for volume in service.get("volumes", [])]
            for name, service in self._file["services"].items()
        }
        kept = {
            volume: {path.name for path in self._volume(volume).iterdir()} for volume in ("keys", "web-keys")
        }
        web = kept.pop("web-keys")
        moved = {self._volume("web-keys").joinpath(name).read_text() for name in WEB_KEYS}
        assert moved == self._older, web
        assert kept["keys"]
        assert kept["keys"].isdisjoint(web)
        assert {name for name, held in mounts.items() if "web-keys" in dict(held)} == {"migrate", "web"}
        self.say("keys", "web's were moved into a volume that no worker has")

    def shuffler(self):
        """It answers whom its proxy sends, and knows nothing of the analyser."""
        port, environment = self._ports["8100"], self._environment("shuffler")
        assert self._status(port, "/healthz") == 200
        assert self._status(port, "/contribute/") == 301  # to https: this is not its proxy
        given = {name for name in environment if name.startswith("HAZEMAP_")}
        assert all(name.startswith("HAZEMAP_SHUFFLER_") for name in given), given
        self.say("shuffler", "answers, and was given nothing of the analyser's")

    def meeting(self):
        """The shuffler joins and asks the analyser, which answers that its token is of no collection."""
        token = self._made("memory-shuffler") / "token"
        token.write_text("of-no-collection")
        about = ["--token-file", str(token), "--operator", "The same", "--url", "https://reports.example"]
        joined = subprocess.run(
            ["python", "manage.py", "shuffler", "join", f"http://127.0.0.1:{self.web_port}", "trees", *about],
            env=self._environment("shuffler"),
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert joined.stdout == "trees is joined.\n", joined.stderr[-3000:]
        refused = "collection trees: the analyser refuses, status 401"
        wait_until(lambda: refused in self._output.read_text(), seconds=60, what="the analyser's answer")
        self.say("shuffler", "asks the analyser, which knows its own tokens alone")

    @staticmethod
    def _status(port, path):
        with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            connection.request("GET", path)
            return connection.getresponse().status

    @staticmethod
    def say(name, what):
        print(f"{name:<10} {what}", flush=True)

    def _volume(self, name):
        mounts = (volume.split(":")[:2] for volume in self._service("web")["volumes"])
        return Path(self._here([dict(mounts)[name]], "web")[0])

    def _service(self, name):
        return self._file["services"][name]

    def _start(self, name):
        command = self._read_only(name) + self._here(self._service(name)["command"], name)
        user = None
        if name == "postgres":
            command, user = self._as_its_image(command)
        with self._output.open("ab") as output:
            process = subprocess.Popen(
                command,
                env=self._environment(name),
                cwd=self._made("postgres") if user else ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                user=user,
                start_new_session=True,
            )
        self.processes[name] = process
        self._stopped.callback(self._stop, name, process)
        self.say(name, f"started, process {process.pid}")

    def _volumes(self, name):
        """(path, volume, whether it may only be read) of each volume with a name."""
        for text in self._service(name).get("volumes", []):
            volume, path, *how = text.split(":")
            if not volume.startswith(("$", ".", "/")):  # else a folder of the machine
                yield path, volume, how == ["ro"]

    def _read_only(self, name):
        """Starts a command with the mounts that it may only read, where this machine lets one do that."""
        folders = [str(self._made(f"volume-{volume}")) for _, volume, closed in self._volumes(name) if closed]
        if not folders or not _may_mount():
            return []
        mounts = [f"mount --bind {path} {path} && mount -o remount,ro,bind {path}" for path in folders]
        return ["unshare", "--mount", "sh", "-c", " && ".join([*mounts, 'exec "$@"']), name]

    def _write_configs(self, name):
        """Those whose content the compose file holds itself, or has from a file of this repository."""
        for config in self._service(name).get("configs", []):
            given = self._file["configs"][config["source"]]
            file = ROOT / given.get("file", "")
            path = self._made(f"configs-{name}") / Path(config["target"]).name
            if content := given.get("content"):
                path.write_text(self._here([content], name)[0])
            elif file.is_file():  # Compose leaves it as it is
                path.write_text(file.read_text().replace("/run/secrets", str(self._made("secrets"))))

    def _as_its_image(self, command):
        """The image's entry point makes a cluster and a database, and adds paths and addresses."""
        user, folder = Postgres._unprivileged(), self._made("postgres")
        if user:
            shutil.chown(folder, user)
        given = self._service("postgres")["environment"]
        told = dict(zip(given, self._here(given.values(), "postgres"), strict=True))
        cluster = ["-D", str(folder / "cluster")]
        who = [f"--pwfile={told['POSTGRES_PASSWORD_FILE']}", f"--username={told['POSTGRES_USER']}"]
        initdb = [Postgres._program("initdb"), *cluster, "-N", *who, *told["POSTGRES_INITDB_ARGS"].split()]
        program = Postgres._program(command[0])
        options = {"user": user, "cwd": folder, "stdout": subprocess.DEVNULL, "text": True}
        subprocess.run(initdb, check=True, **options)
        create = f"CREATE DATABASE {told['POSTGRES_DB']}\n"
        single = [program, "--single", *cluster, "postgres"]
        subprocess.run(single, check=True, input=create, stderr=subprocess.DEVNULL, **options)
        here = {"port": self._ports["5432"], "listen_addresses": "127.0.0.1"}
        here |= {"unix_socket_directories": folder, "fsync": "off"}
        flags = [part for key, value in here.items() for part in ("-c", f"{key}={value}")]
        self._run_scripts([program, *cluster, *flags, "-c", "listen_addresses="], told, options)
        return [program, *cluster, *command[1:], *flags], user

    def _run_scripts(self, command, told, options):
        """What is in the folder `docker-entrypoint-initdb.d`, as the superuser, before anybody else comes."""
        targets = [Path(config["target"]) for config in self._service("postgres").get("configs", [])]
        scripts = sorted(each.name for each in targets if each.parent.name == "docker-entrypoint-initdb.d")
        folder, port = options["cwd"], str(self._ports["5432"])
        password = Path(told["POSTGRES_PASSWORD_FILE"]).read_text().strip()
        who = [f"--username={told['POSTGRES_USER']}", f"--dbname={told['POSTGRES_DB']}", f"--host={folder}"]
        psql = ["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--port={port}", *who]
        environment = os.environ | {"PGPASSWORD": password}
        server = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
        try:
            ready = ["pg_isready", "--quiet", f"--port={port}", *who]
            wait_until(
                lambda: subprocess.run(ready, check=False).returncode == 0, seconds=60, what="PostgreSQL"
            )
            for script in scripts:
                file = self._made("configs-postgres") / script
                subprocess.run([*psql, f"--file={file}"], env=environment, check=True)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)

    def _wait(self, name, condition):
        process = self.processes[name]
        if condition == "service_completed_successfully":
            assert process.wait(timeout=START_SECONDS) == 0, f"{name} ended with {process.returncode}"
            return
        if "healthcheck" not in self._service(name):
            return
        began = time.monotonic()
        wait_until(lambda: self._is_healthy(name), seconds=START_SECONDS, what=f"health of {name}")
        self.say(name, f"healthy after {time.monotonic() - began:.1f} s of waiting")

    def _is_healthy(self, name):
        process = self.processes[name]
        assert process.poll() is None, f"{name} ended with {process.returncode}"
        kind, *check = self._here(self._service(name)["healthcheck"]["test"], name)
        command = ["sh", "-c", check[0]] if kind == "CMD-SHELL" else check
        with self._output.open("ab") as output:
            asked = subprocess.run(
                command,
                env=self._environment(name),
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=30,
                check=False,
            )
        return asked.returncode == 0

    def _stop(self, name, process):
        """As a container is stopped: SIGTERM (PostgreSQL: SIGINT, fast), then SIGKILL to what is left."""
        if process.poll() is None:
            process.send_signal(signal.SIGINT if name == "postgres" else signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)
        self.say(name, f"stopped, exit code {process.returncode}")

    def _asked(self, *arguments, service="web"):
        """What a person's script says, run with the service's own environment."""
        asked = subprocess.run(
            [sys.executable, "-m", "tests.services.web", *arguments],
            env=self._environment(service) | {"DJANGO_SETTINGS_MODULE": "heatmaps.config.settings"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert asked.returncode == 0, asked.stderr[-3000:]
        return json.loads(asked.stdout)

    def _environment(self, name):
        foreign = ("HAZEMAP_", "DJANGO_", "PG", "REDIS")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
        given = self._service(name).get("environment", {})
        own = dict(zip(given, self._here(given.values(), name), strict=True))
        programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        return kept | own | {"PATH": programs, "PYTHONUNBUFFERED": "1", "JAVA_TOOL_OPTIONS": JAVA_OPTIONS}

    def _here(self, texts, name):
        """Texts of the compose file as they are true on this machine."""
        here = {
            "/run/secrets/": f"{self._made('secrets')}/",
            **{path: str(self._made(f"volume-{volume}")) for path, volume, _ in self._volumes(name)},
            # What a service has no volume for is in the image, which it may not write.
            "/var/lib/hazemap/": f"{self._made(f'image-{name}')}/",
            f"/etc/{name}/": f"{self._made(f'configs-{name}')}/",
            "/opt/spark/": f"{SPARK_HOME}/",
            "/scratch": str(self._made(f"scratch-{name}")),
            "/tmp": str(self._made(f"memory-{name}")),
            **{inside: str(port) for inside, port in self._ports.items()},
        }
        return [compose.replaced(compose.with_defaults(text), compose.ON_LOOPBACK | here) for text in texts]

    def _made(self, name):
        path = self._folder / name
        path.mkdir(exist_ok=True)
        path.chmod(0o755)  # whatever the umask is: PostgreSQL's own user comes here
        return path

    def _passwords(self):
        return {path.read_text().strip() for path in self._made("secrets").iterdir()}


@cache
def _may_mount():
    command = ["unshare", "--mount", "mount", "--bind", "/tmp", "/tmp"]
    return not subprocess.run(command, check=False, capture_output=True).returncode


def _ours():
    """All services but Spark, which a test of its own starts (`tests/deployment/test_compose_lake.py`)."""
    file = compose.parsed(compose.COLLECTIONS)
    return file | {"services": {name: each for name, each in file["services"].items() if name != "spark"}}


if __name__ == "__main__":
    main()
