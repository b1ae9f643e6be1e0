"""A deployment whose every process can be killed and started again: web, worker, scheduler, Redis,
PostgreSQL."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile

import psutil

from tests.services.http import is_whole
from tests.services.installation import ROOT
from tests.services.programs import Redis, free_port, wait_until


class Service:
    """One command in a process group of its own."""

    def __init__(self, command, *, environment, output):
        self._command, self._environment, self._output = command, environment, output
        self._groups = []
        self.start()

    def start(self):
        with self._output.open("ab") as output:
            self.process = subprocess.Popen(
                self._command,
                env=self._environment,
                cwd=ROOT,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._groups.append(self.process.pid)

    def kill(self):
        """SIGKILL to all of its processes."""
        self._kill_group(self.process.pid)
        self.process.wait(timeout=60)

    def kill_first(self):
        """SIGKILL to its first process; its children are left to themselves."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=60)

    def kill_child(self, chance):
        """SIGKILL to one of its children, as the system does when memory is short; False without any."""
        return kill_one(psutil.Process(self.process.pid).children(), chance)

    def hang(self):
        """SIGSTOP to all of its processes: what is asked of them gets no answer."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def end(self):
        for group in self._groups:
            self._kill_group(group)
        self.process.wait(timeout=60)

    @staticmethod
    def _kill_group(group):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


class Deployment:
    """The commands of docker-compose.yml, except that every draw is slow and written down."""

    def __init__(self, installation, postgres):
        self.installation, self.postgres = installation, postgres
        self.port, redis_port = free_port(), free_port()
        installation.broker_url = f"redis://127.0.0.1:{redis_port}/0"
        # Longer than a lease, so that no killed worker makes a release late: slots would double each time.
        installation.others["HAZEMAP_SLOT_SECONDS"] = "1.3,1.3,1.3,1.3"
        self._redis = Redis(redis_port)
        self._ends = contextlib.ExitStack()

    def __enter__(self):
        folder = self._ends.enter_context(tempfile.TemporaryDirectory(prefix="hazemap-redis-"))
        redis = ["redis-server", "--port", str(self._redis.port), "--bind", "127.0.0.1", "--dir", folder]
        self.redis = self._service([*redis, "--save", "", "--appendonly", "no"])
        self.web = self._service([sys.executable, "manage.py", "serve", "--port", str(self.port)])
        self._start_workers()
        self.scheduler = self._service([sys.executable, "manage.py", "clock"])
        return self

    def _start_workers(self):
        self.worker = self.start_worker("tests.services.witness", "--concurrency", "2")

    def start_worker(self, application, *options):
        celery = [sys.executable, "-m", "celery", "-A", application, "worker", "--loglevel", "WARNING"]
        return self._service([*celery, *options])

    def __exit__(self, *error):
        self._ends.close()

    def answers(self):
        return is_whole(self.port)

    def start_what_ended(self):
        """As `restart: unless-stopped` does: a Celery worker may give up when its broker dies."""
        for service in (self.redis, self.web, self.worker, self.scheduler):
            if service.process.poll() is not None:
                service.kill()
                service.start()

    def kill_and_restart(self, kind, chance):
        """What was killed, in words."""
        how = chance.choice(HOW[kind])
        victim = getattr(self, kind)
        if how == "one child":
            children = victim.kill_child(chance) if kind == "worker" else self._kill_session(chance)
            return f"{how} of {kind}" if children else f"nothing of {kind}, it had no child"
        if how == "the first process" and kind == "worker":
            victim.kill_first()
        else:
            victim.kill()
        victim.restart() if kind == "postgres" else victim.start()
        return f"{how} of {kind}"

    def _kill_session(self, chance):
        """One client's process of PostgreSQL; the server then starts all of them anew."""
        server = psutil.Process(self.postgres.process.pid)
        before = server.children()
        killed = kill_one([child for child in before if "hazemap" in title_of(child)], chance)
        with contextlib.suppress(AssertionError):  # it had just ended by itself: then they stay
            wait_until(lambda: not set(before) & set(server.children()), seconds=60, what="new processes")
        wait_until(self.postgres._answers, seconds=60, what="PostgreSQL answering again")
        return killed

    def _service(self, command):
        made = Service(
            command, environment=self.installation.environment, output=self.installation.folder / "output"
        )
        self._ends.callback(made.end)
        return made


class Parts(Deployment):
    """The same with draws and files apart, each of which may end or hang for a while."""

    def _start_workers(self):
        names = {"draws": "draws", "files": "celery"}
        for name, queue in names.items():
            options = ("-Q", queue, "--hostname", f"{name}@%h", "--concurrency", "1")
            setattr(self, name, self.start_worker("heatmaps.config", *options))

    def take_away(self, name, how):
        part = getattr(self, name)
        part.hang() if how == "hanging" else part.kill()

    def bring_back(self, name, how):
        part = getattr(self, name)
        if how == "hanging":
            part.go_on()
        else:
            part.restart() if name == "postgres" else part.start()


HOW = {
    "web": ["all processes"],
    "worker": ["all processes", "the first process", "one child"],
    "scheduler": ["all processes"],
    "redis": ["all processes"],
    "postgres": ["the first process", "one child"],
}


def title_of(process):
    """What it says of itself; empty for one that has just ended, as sessions do at any moment."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


def kill_one(processes, chance):
    """SIGKILL to one of them, if it still lives; False when there is none."""
    if not processes:
        return False
    with contextlib.suppress(psutil.NoSuchProcess):
        chance.choice(sorted(processes, key=lambda process: process.pid)).kill()
    return True
