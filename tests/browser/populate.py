"""People of every role and every state of uploads and releases, for looking at all pages.

python -m tests.browser.populate: addresses and cookies of sessions, as JSON.
"""

import io
import json
import time

import django

django.setup()

from allauth.account.models import EmailAddress, EmailConfirmationHMAC, Login  # noqa: E402
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes  # noqa: E402
from allauth.mfa.stages import AuthenticateStage  # noqa: E402
from allauth.mfa.totp.internal import auth  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import transaction  # noqa: E402
from django.test.utils import override_settings  # noqa: E402
from django.utils import timezone  # noqa: E402

from heatmaps.ingest import uploads  # noqa: E402
from heatmaps.ledger import transitions  # noqa: E402
from heatmaps.models import (  # noqa: E402
    AccountKind,
    ApiToken,
    Dataset,
    Drawing,
    DrawingState,
    Installation,
    Membership,
    Release,
)
from heatmaps.people import invitations, password_links  # noqa: E402
from heatmaps.people.sessions import SessionStore  # noqa: E402
from heatmaps.record import hold  # noqa: E402
from heatmaps.releases import clock, lifecycle, publication  # noqa: E402
from heatmaps.releases.lifecycle import ReleaseRequest  # noqa: E402
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
    named["districts"] = str(seed.store_districts(people["steward"], dataset).pk)
    named |= files(people["steward"], dataset) | lives(people["analyst"], dataset)
    named |= starts(people["steward"], people["analyst"])
    named |= {"walks": collection(people["steward"], people["analyst"]).slug}
    named |= {"restored": restored(people["steward"], people["analyst"]).slug}
    named |= links(people, dataset) | point(people["steward"], named["panel"])
    publication.set_public(people["steward"], Release.objects.get(pk=named["published"]), public=True)
    people["secured"] = secured(named)
    hold.installation()
    Installation.objects.update(confirm_before=timezone.now())  # what is queued waits for an operator
    sessions = {name: session(person) for name, person in people.items()}
    sessions["half-way"] = half_way(people["secured"])
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
    """A release in every state that is shown; the server beside has a clock and a worker, too."""
    published = ask(analyst, dataset, "0.1")
    cancelled = ask(analyst, dataset, "0.2")  # behind the other: it has not begun
    lifecycle.cancel(analyst, cancelled)
    clock.complete(published.pk)
    with transaction.atomic():  # no worker is faster
        no_result = ask(analyst, dataset, "0.3")
        Drawing.objects.create(release=no_result, state=DrawingState.FAILED)
    clock.complete(no_result.pk)
    one, other = (ask(analyst, dataset, epsilon, mechanism="laplace") for epsilon in ("0.4", "0.5"))
    for release in (one, other):
        clock.complete(release.pk)
    made = {
        "published": published,
        "cancelled": cancelled,
        "no_result": no_result,
        "one": one,
        "other": other,
    }
    return {life: str(release.pk) for life, release in made.items()} | queued(analyst)


def ask(person, dataset, epsilon, *, mechanism="sparse-emd", guide=None):
    question = ReleaseRequest(mechanism=mechanism, epsilon=epsilon, resolution=16, guide=guide)
    return lifecycle.request_release(person, dataset, question)


def starts(steward, analyst):
    """Maps that started from a file and from each other, and a dataset that still takes files."""
    town, unfilled = (
        seed.make_dataset(steward, slug, limits={"presence": "40"}) for slug in ("town", "unfilled")
    )
    for dataset in (town, unfilled):
        Membership.objects.create(dataset=dataset, user=analyst, role="analyst")
    file = seed.store_guide(steward, town)
    seed.add_checkins(town)
    of_file = ask(analyst, town, "4", mechanism="adaptive", guide=str(file.pk))
    clock.complete(of_file.pk)
    guided = ask(analyst, town, "3", mechanism="adaptive", guide=str(of_file.pk))
    clock.complete(guided.pk)
    made = {"of-file": of_file, "guided": guided}
    return {"town": town.slug, "unfilled": unfilled.slug} | {life: str(one.pk) for life, one in made.items()}


def collection(steward, analyst):
    """With a round that is planned."""
    walks = seed.make_collection(steward)
    Membership.objects.create(dataset=walks, user=analyst, role="analyst")
    seed.plan_round(steward, walks)
    return walks


def restored(steward, analyst):
    """A dataset that nobody confirmed after a restore."""
    made = seed.make_dataset(steward, "restored")
    Membership.objects.create(dataset=made, user=analyst, role="analyst")
    seed.add_checkins(made)
    reason = "the disk broke"
    charges = {AccountKind.PRESENCE: 10**12}
    transitions.restore(made, transitions.Unknown(charges=charges, other_copy="unknown", reason=reason))
    return made


def queued(analyst):
    """It appears when everybody has looked."""
    waiting = seed.make_dataset(User.objects.get(username="looking-steward"), "waiting")
    seed.add_checkins(waiting)
    Membership.objects.create(dataset=waiting, user=analyst, role="analyst")
    with override_settings(SLOT_SECONDS=dict.fromkeys(settings.SLOT_SECONDS, 3600)):
        return {"queued": str(ask(analyst, waiting, "0.1").pk)}


def links(people, dataset):
    """What is sent to somebody, and what hangs on an account."""
    administrator, analyst = people["administrator"], people["analyst"]
    people["auditor"].set_password("stones roll down hills")
    people["auditor"].save()
    reset = password_links.make(administrator, people["auditor"])
    invited = invitations.invite(people["steward"], dataset, "analyst")
    token, _ = ApiToken.objects.create(user=analyst, expiry=None, name="laptop", scopes=["read"])
    return {
        "invitation": invited.secret,
        "reset": reset,
        "token": token.token_key,
        "analyst": analyst.pk,
        "auditor": people["auditor"].pk,
    }


def secured(named):
    """Somebody with a password, an app, recovery codes and an address that is not confirmed."""
    person = User.objects.create_user("looking-secured", password="stones roll down hills")
    auth.TOTP.activate(person, auth.generate_totp_secret())
    RecoveryCodes.activate(person)
    address = EmailAddress.objects.create(user=person, email="secured@example.org")
    named["address"] = EmailConfirmationHMAC(address).key
    named["secured"] = person.pk
    return person


def half_way(person):
    """A browser where the password was right and a code is to come."""
    store = SessionStore()
    waiting = Login(user=person, state={"stages": {"current": AuthenticateStage.key}})
    store["account_login"] = waiting.serialize()
    store.create()
    return store.session_key


def point(steward, slug):
    """A release that is one place."""
    panel = Dataset.objects.get(slug=slug)
    seed.add_checkins(panel)
    question = ReleaseRequest(mechanism="exponential", epsilon="1", resolution=None)
    release = lifecycle.request_release(steward, panel, question)
    clock.complete(release.pk)
    return {"point": str(release.pk)}


def session(person):
    store = SessionStore()
    store[SESSION_KEY] = str(person.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = person.get_session_auth_hash()
    # Entered later than anybody looks: pages that ask for the password again show what they ask it for.
    entered = {"method": "password", "at": time.time() + 7200, "reauthenticated": True}
    store["account_authentication_methods"] = [entered]
    store["account_authentication_methods_user"] = str(person.pk)
    store.create()
    return store.session_key


if __name__ == "__main__":
    main()
