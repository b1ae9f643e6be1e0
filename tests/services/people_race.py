"""Two acts on the people of a dataset at the same moment; prints what became of them as JSON.

python -m tests.services.people_race leave|close|accept|reset|join|app|read|ask|guess ROUNDS
"""

import json
import re
import sys
import threading
import time

import django

django.setup()

from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.models import Dataset, Membership, Release  # noqa: E402
from heatmaps.people import accounts, invitations, members, password_links, permissions  # noqa: E402
from heatmaps.releases import lifecycle  # noqa: E402
from tests.pages.confirming import confirm  # noqa: E402
from tests.services import seed  # noqa: E402

PASSWORD = "grass grows by inches"
REQUEST = lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.001", resolution=16)
settings.MOST_QUESTIONS_A_DAY = {"person": 10_000, "dataset": 10_000}
settings.START_SECONDS = 60


def together(*acts):
    """What each of them came to: the name of its refusal, "" where there was none."""
    barrier, told = threading.Barrier(len(acts)), [None] * len(acts)

    def go(at, act):
        barrier.wait(timeout=60)
        try:
            act()
            told[at] = ""
        except Exception as error:  # noqa: BLE001 - the test wants to see it
            told[at] = type(error).__name__
        connection.close()

    crowd = [threading.Thread(target=go, args=(at, act)) for at, act in enumerate(acts)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    return told


def person(name, **flags):
    return User.objects.create_user(name, **flags)


def two_stewards(slug):
    first, second = person(f"{slug}-first"), person(f"{slug}-second")
    dataset = seed.make_dataset(first, slug)
    members.add(first, dataset, second.username, "steward")
    return dataset, first, second


def leave(slug):
    """Both stewards leave."""
    dataset, first, second = two_stewards(slug)
    rows = [Membership.objects.get(dataset=dataset, user=user) for user in (first, second)]
    return dataset, together(*(lambda row=row: members.remove(row.user, row) for row in rows))


def close(slug):
    """One steward leaves while an administrator closes the other's account."""
    dataset, first, second = two_stewards(slug)
    administrator = person(f"{slug}-administrator", is_superuser=True)
    row = Membership.objects.get(dataset=dataset, user=first)
    return dataset, together(
        lambda: members.remove(first, row), lambda: accounts.close(administrator, second)
    )


def accept(slug):
    """Six people use one link."""
    dataset, first, _ = two_stewards(slug)
    secret = invitations.invite(first, dataset, "analyst").secret
    crowd = [person(f"{slug}-{number}") for number in range(6)]
    return dataset, together(*(lambda user=user: invitations.accept(user, secret) for user in crowd))


def join(slug):
    """Two people with links of their own want names that look alike."""
    dataset, first, _ = two_stewards(slug)
    secrets = [invitations.invite(first, dataset, "analyst").secret for _ in range(2)]
    names = (f"{slug}-zoe", f"{slug}-ZOE")
    return dataset, together(
        *(
            lambda secret=secret, name=name: invitations.sign_up(secret, name, None)
            for secret, name in zip(secrets, names, strict=True)
        )
    )


def app(slug):
    """Somebody sends the form that sets up an authenticator app four times at once."""
    dataset, first, _ = two_stewards(slug)
    page, clients = reverse("mfa_activate_totp"), [Client(headers={"host": "localhost"}) for _ in range(4)]
    clients[0].force_login(first)
    confirm(clients[0], first)
    secret = re.search('readonly value="([A-Z2-7]+)"', clients[0].get(page).content.decode())[1]
    code = format_hotp_value(hotp_value(secret, int(time.time()) // 30))
    for other in clients[1:]:
        other.cookies = clients[0].cookies
    return dataset, together(*(lambda one=one: one.post(page, {"code": code}) for one in clients))


def reset(slug):
    """Four people use one link for a new password."""
    dataset, first, _ = two_stewards(slug)
    first.set_password("the old one")
    first.save()
    key = password_links.make(person(f"{slug}-administrator", is_superuser=True), first)
    return dataset, together(*[lambda: password_links.choose(key, PASSWORD)] * 4)


def guess(slug):
    """Nineteen wrong codes at once, by the half sign-in of who knows the password: 20 tries in all."""
    dataset, first, _ = two_stewards(slug)
    first.set_password(PASSWORD)
    first.save()
    TOTP.activate(first, generate_totp_secret())
    thief = Client(headers={"host": "localhost"})
    thief.post(reverse("account_login"), {"login": first.username, "password": PASSWORD})
    clients = [Client(headers={"host": "localhost"}) for _ in range(19)]
    for client in clients:
        client.cookies = thief.cookies

    def enter(client, number):
        address = {"REMOTE_ADDR": f"198.51.100.{number}"}
        answer = client.post(reverse("mfa_authenticate"), {"code": f"00000{number % 10}"}, **address)
        if "Too many wrong app codes" in answer.content.decode():
            raise PermissionError
        if "This code is wrong" not in answer.content.decode():
            raise ValueError(answer.status_code)

    return dataset, together(
        *(lambda client=client, number=number: enter(client, number) for number, client in enumerate(clients))
    )


def read(slug):
    """Eight administrators open the dataset for the first time."""
    dataset, _, _ = two_stewards(slug)
    crowd = [person(f"{slug}-{number}", is_superuser=True) for number in range(8)]
    return dataset, together(
        *(lambda user=user: permissions.require(user, dataset, permissions.Act.SEE) for user in crowd)
    )


def ask(slug):
    """An analyst asks again and again in three threads, until a steward has removed the analyst."""
    dataset, first, _ = two_stewards(slug)
    seed.add_checkins(dataset)
    analyst = person(f"{slug}-analyst")
    members.add(first, dataset, analyst.username, "analyst")
    row = Membership.objects.get(dataset=dataset, user=analyst)

    def go():
        while True:
            lifecycle.request_release(analyst, dataset, REQUEST)

    return dataset, together(go, go, go, lambda: members.remove(first, row))


ACTS = {act.__name__: act for act in (leave, close, accept, reset, join, app, read, ask, guess)}


def main(act, rounds):
    told = []
    for number in range(int(rounds)):
        dataset, outcomes = ACTS[act](f"{act}-{number}")
        held = Membership.objects.filter(dataset=dataset)
        told.append(
            {
                "outcomes": sorted(outcomes),
                "stewards": held.filter(role="steward", user__is_active=True).count(),
                "reads": list(dataset.administrator_reads.values_list("sequence", flat=True)),
                "queued": Release.objects.filter(dataset=dataset, state="reserved").count(),
                "committed": dataset.accounts.get(kind="presence").committed,
                "analysts": held.filter(role="analyst").count(),
                "problem": verify(Dataset.objects.get(pk=dataset.pk)).problem,
            }
        )
    return told


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
