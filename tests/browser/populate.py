"""People of every role and every state of uploads and releases, for looking at all pages.

python -m tests.browser.populate: addresses and cookies of sessions, as JSON.
"""

import io
import json

import django

django.setup()

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.sessions.backends.db import SessionStore  # noqa: E402

from heatmaps import accounts, invitations, publication, releases  # noqa: E402
from heatmaps.ingest import uploads  # noqa: E402
from heatmaps.models import ApiToken, Dataset, Membership, Release  # noqa: E402
from heatmaps.releases import ReleaseRequest  # noqa: E402
from mechanisms.central.sparse_emd import SparseEmd  # noqa: E402
from mechanisms.guarantee import Relation  # noqa: E402
from tests.services import seed  # noqa: E402

GOOD = b"user,lat,lon\n" + b"".join(b"p%d,0.%02d,0.%02d\n" % (at % 9, at % 97, at % 89) for at in range(300))


def main():
    people = {name: User.objects.create_user(f"looking-{name}") for name in ("steward", "analyst", "auditor")}
    people["administrator"] = User.objects.create_superuser("looking-administrator")
    dataset = seed.make_dataset(people["steward"], "looked-at")
    for role in ("analyst", "auditor"):
        Membership.objects.create(dataset=dataset, user=people[role], role=role)
    seed.add_checkins(dataset)
    named = {"panel": panel(people["steward"]).slug}
    named |= {"dataset": dataset.slug, "panel-kind": "radius", "kind": "presence"}
    named |= files(people["steward"], dataset) | lives(people["analyst"], dataset)
    named |= links(people, dataset) | point(people["steward"], named["panel"])
    publication.set_public(people["steward"], Release.objects.get(pk=named["published"]), public=True)
    sessions = {name: session(person) for name, person in people.items()}
    print(json.dumps({"named": named, "sessions": sessions}))


def panel(steward):
    """Of the other relation; one place costs more of the whole record than anybody would limit it to."""
    limits = {"record": None, "radius": "4"}
    return seed.make_dataset(steward, "panel-looked-at", Relation.REPLACE, limits=limits)


def files(steward, dataset):
    """An upload that waits for a version, one that failed, one that stands for all."""
    made = {}
    for name, content in {"ready": GOOD, "failed": b"nothing,of,this\n1,2,3\n"}.items():
        upload = uploads.receive(
            steward, dataset, io.BytesIO(content), name=f"{name}.csv", advance=False, enqueue=False
        )
        uploads.run(upload.pk)
        made[f"upload-{name}"] = str(upload.pk)
    return made


def lives(analyst, dataset):
    """A release in every state that is shown."""
    made = {}
    for number, life in enumerate(("published", "cancelled", "no_result", "queued"), start=1):
        question = ReleaseRequest(mechanism="sparse-emd", epsilon=f"0.{number}", resolution=16)
        release = releases.request_release(analyst, dataset, question)
        made[life] = str(release.pk)
        if life == "published":
            releases.run(release.pk)
        elif life == "cancelled":
            releases.cancel(analyst, release)
        elif life == "no_result":
            fail(release)
    return made


def links(people, dataset):
    """What is sent to somebody, and what hangs on an account."""
    administrator, analyst = people["administrator"], people["analyst"]
    accounts.allow_sign_up(administrator, allowed=True)
    invited = invitations.invite(people["steward"], dataset, "analyst")
    token, _ = ApiToken.objects.create(user=analyst, expiry=None, name="laptop", scopes=["read"])
    return {
        "invitation": invited.secret,
        "reset": invitations.reset(administrator, people["auditor"]).secret,
        "token": token.token_key,
        "analyst": analyst.pk,
    }


def point(steward, slug):
    """A release that is one place."""
    panel = Dataset.objects.get(slug=slug)
    seed.add_checkins(panel)
    question = ReleaseRequest(mechanism="exponential", epsilon="1", resolution=None)
    release = releases.request_release(steward, panel, question)
    releases.run(release.pk)
    return {"point": str(release.pk)}


def fail(release):
    draw, SparseEmd.release = SparseEmd.release, broken
    releases.run(release.pk)
    SparseEmd.release = draw


def broken(*_arguments):
    raise ZeroDivisionError


def session(person):
    store = SessionStore()
    store[SESSION_KEY] = str(person.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = person.get_session_auth_hash()
    store.create()
    return store.session_key


if __name__ == "__main__":
    main()
