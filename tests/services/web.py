"""A person at the keyboard of a test installation: requests and releases by the product's own functions.

python -m tests.services.web upload | uploaded ID | ask [EPSILON] | begin | state ID | session [NAME] | rights
"""

import io
import json
import sys

import django

django.setup()

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import ProgrammingError, connection  # noqa: E402

from heatmaps.ingest import uploads  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Dataset, Release, Upload  # noqa: E402
from heatmaps.people.sessions import SessionStore  # noqa: E402
from heatmaps.releases import lifecycle  # noqa: E402
from tests.services import seed  # noqa: E402


def upload():
    """A file into a new city, stored here and read by a worker."""
    steward = User.objects.create_user("steward-of-the-city")
    dataset = seed.make_dataset(steward, "hidden-city")
    rows = [f"{at % 40},0.{at % 97:02},0.{at % 89:02}" for at in range(400)]
    file = io.BytesIO("\n".join(["user,lat,lon", *rows]).encode())
    return str(uploads.receive(steward, dataset, file, name="city.csv").pk)


def uploaded(upload_id):
    return Upload.objects.get(pk=upload_id).state


def ask(epsilon="0.5"):
    """A city on first use, and a release of it."""
    steward, _ = User.objects.get_or_create(username="steward-of-the-city")
    dataset = Dataset.objects.filter(slug="hidden-city").first()
    if dataset is None:
        dataset = seed.make_dataset(steward, "hidden-city")
        seed.add_checkins(dataset)
    request = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon=epsilon, resolution=16)
    return str(lifecycle.request_release(steward, dataset, request).pk)


def begin():
    """What `ask` and `session` tell, by one process."""
    return ask(), session()


def state(release_id):
    release = Release.objects.get(pk=release_id)
    verified = verify(release.dataset)
    return {
        "state": release.state,
        "spent": release.dataset.events.filter(kind="spend").count(),
        "problem": verified.problem,
    }


def session(name="steward-of-the-city"):
    """A cookie's value of somebody signed in."""
    steward, store = User.objects.get(username=name), SessionStore()
    store[SESSION_KEY] = str(steward.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = steward.get_session_auth_hash()
    store.create()
    return store.session_key


BEYOND = {
    "change events": "UPDATE heatmaps_event SET hash = hash",
    "delete events": "DELETE FROM heatmaps_event",
    "empty events": "TRUNCATE heatmaps_event",
    "switch triggers off": "ALTER TABLE heatmaps_event DISABLE TRIGGER USER",
    "drop tables": "DROP TABLE heatmaps_event",
    "become the owner": "SET ROLE hazemap",
    "check-ins": "SELECT count(*) FROM heatmaps_checkin",
}


def rights():
    """Which of the things beyond a process's work its database role may do all the same."""
    granted = []
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        (role,) = cursor.fetchone()
        for what, statement in BEYOND.items():
            try:
                cursor.execute(statement)
            except ProgrammingError:  # that of a right that is missing
                continue
            granted.append(what)
    return {"role": role, "granted": granted}


if __name__ == "__main__":
    act, *arguments = sys.argv[1:]
    acts = {"upload": upload, "uploaded": uploaded, "ask": ask, "state": state, "session": session}
    acts |= {"rights": rights, "begin": begin}
    print(json.dumps(acts[act](*arguments)))
