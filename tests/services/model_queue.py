"""What clock and sweep do to a queue of releases, in plain Python; import it once Django is set up."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from django.contrib.auth.models import User

from heatmaps.models import Release
from heatmaps.releases import clock
from tests.services.roles import CLOCK

SLOT_SECONDS = 60


@dataclass(slots=True, eq=False)
class Known:
    """A release as the model knows it."""

    owner: User
    epsilon: str
    version: int
    expires: datetime
    starts: datetime
    visible: datetime
    state: str = "reserved"
    drawing: str = ""  # "running", "drawn", "failed"; empty: nobody draws it, or it has ended
    claimed: datetime | None = None
    lease: datetime | None = None


class Queue:
    """The part of a sequence of `tests.services.model` that moves by itself."""

    __slots__ = ()

    def tick(self):
        """The clock, in the order of the queue, and what it tells of each release."""
        self.faults.crash_at = self.chance.choice(
            [None] * 6 + ["spend", "publish", "fail", "late", "postpone"]
        )
        now, crash_at = self.faults.now(), self.faults.crash_at
        outcome, _ = self.tried(clock.tick, CLOCK)
        assert self.ticked(now, crash_at) == outcome

    def ticked(self, now, crash_at):  # noqa: C901, PLR0911 - each thing that holds the queue up
        for one in self.queue():
            if one.state == "reserved" and one.expires < now:
                self.move(one, "cancelled", "cancel")
            elif one.state == "reserved":
                return "done" if one.starts > now else self.begun(one, now, crash_at)
            elif one.visible > now:
                return "done"
            elif one.drawing and one.visible - one.claimed < self.slot() / 2:
                return self.moved(crash_at)
            elif one.drawing == "running" and one.lease >= now:
                if crash_at == "late" or (crash_at == "postpone" and self.would_push(one)):
                    return "Crash"
                self.doublings += 1
                self.kinds.append("late")
                return self.moved(crash_at, besides=one)
            elif not one.drawing:
                return self.moved(crash_at)
            else:
                end = {"drawn": ("published", "publish")}.get(one.drawing, ("failed", "fail"))
                if one.drawing == "running":
                    one.drawing = "failed"  # its worker is dead, and that stays so whatever crashes
                if crash_at == end[1]:
                    return "Crash"
                self.move(one, *end)
                one.drawing = ""
        return "done"

    def would_push(self, late):
        """Whether others had to make room: then all of it was undone, and the late one is where it was."""
        visible = late.visible
        return self.reread() and late.visible == visible

    def begun(self, one, now, crash_at):
        late = max(timedelta(seconds=1), (one.visible - one.starts) / 4)
        if now - one.starts > late and self.moved(crash_at) == "Crash":
            return "Crash"
        if crash_at == "spend":
            self.reread()  # with the spend, its new slot was undone
            return "Crash"
        self.move(one, "spent", "spend")
        return "done"

    def moved(self, crash_at, besides=None):
        """Slots that were moved, as the database has them; each is an event."""
        before = {pk: (one.starts, one.visible) for pk, one in self.known.items()}
        after = self.reread()
        changed = [pk for pk in before if before[pk] != after[pk] and self.known[pk] is not besides]
        if crash_at == "postpone" and besides is None:
            assert not changed
            return "Crash"
        self.kinds += ["postpone"] * len(changed)
        self.check_queue()
        return "done"

    def reread(self):
        rows = Release.objects.filter(dataset=self.dataset).values_list("pk", "starts_at", "visible_at")
        now = {pk: (starts, visible) for pk, starts, visible in rows}
        for pk, one in self.known.items():
            one.starts, one.visible = now[pk]
        return now

    def check_queue(self):
        """No two slots overlap."""
        queue = list(self.queue())
        assert all(one.visible <= behind.starts for one, behind in pairwise(queue))

    def queue(self):
        return [one for one in self.known.values() if one.state in ("reserved", "spent")]

    def slot(self):
        return timedelta(seconds=SLOT_SECONDS) * 2**self.doublings

    def move(self, one, state, kind):
        one.state = state
        self.kinds.append(kind)

    def swept(self):
        """Drawings of workers that are dead by now come to nothing."""
        for one in self.known.values():
            if one.drawing == "running" and one.lease < self.faults.now():
                one.drawing = "failed"
