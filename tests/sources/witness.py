"""The product's Celery application for `celery -A`, which writes down each step of a release from a lake.

A step named in the file `pause` of the state folder lasts longer once, so that something can be killed in it.

| step | where |
| --- | --- |
| reading | before Spark is asked |
| summing | Spark is asked, and takes its time |
| read | the masses are here, nobody is elected to draw |
| drawing | elected, before the first random number |
| drawn | the result is stored and waits for its moment |
"""

import hashlib
import threading
import time

import django

django.setup()

from django.conf import settings  # noqa: E402

from heatmaps.config.celery import app  # noqa: E402
from heatmaps.releases import draws, lifecycle, source_readings  # noqa: E402
from heatmaps.releases.readings import Draw  # noqa: E402
from heatmaps.sources.engine import LakeSession  # noqa: E402

__all__ = ["app"]

PAUSE_SECONDS = 2.0
STEPS, PAUSE = settings.STATE_DIR / "steps", settings.STATE_DIR / "pause"
_at_work = threading.local()


def digest(masses):
    """SHA-256 of all that a mechanism reads of them."""
    parts = (masses.level, masses.unit, masses.cells.tolist(), masses.masses.tolist())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def note(step, *facts):
    with STEPS.open("a") as file:
        file.write(" ".join([str(getattr(_at_work, "on", "-")), step, *facts]) + "\n")
    if PAUSE.exists() and PAUSE.read_text() == step:
        PAUSE.unlink(missing_ok=True)
        if step not in ("summing", "drawn"):  # these last by themselves
            time.sleep(PAUSE_SECONDS)


def write_down_steps():
    run_in_lake, read, ask, release, finish = (
        lifecycle.run_in_lake,
        Draw.read,
        LakeSession.ask,
        Draw.release,
        draws.finish,
    )

    def noted_run(lake_release):
        _at_work.on = lake_release.pk
        run_in_lake(lake_release)

    def noted_read(draw, *arguments):
        note("reading")
        masses = read(draw, *arguments)
        note("read")
        return masses

    def noted_ask(lake, question):
        note("summing")
        table = ask(lake, question)
        note("summed")
        return table

    def noted_release(draw, masses, rng):
        note("drawing", digest(masses))
        return release(draw, masses, rng)

    def noted_finish(*arguments):
        finish(*arguments)
        note("drawn")

    lifecycle.run_in_lake, Draw.read, LakeSession.ask = noted_run, noted_read, noted_ask
    Draw.release, draws.finish = noted_release, noted_finish


write_down_steps()
source_readings.LONG_PAUSE = source_readings.PAUSE  # what was killed is started again at once
