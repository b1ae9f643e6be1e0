"""A day of an installation whose web and workers sign in as roles of their own, in one process.

python -m tests.services.role_work: every page and address as web, every task as worker; what failed, as JSON.
"""

import io
import json
from contextlib import contextmanager
from datetime import timedelta

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import DatabaseError, connection, connections  # noqa: E402
from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402
from django.utils import timezone  # noqa: E402

from heatmaps.broker import queue  # noqa: E402
from heatmaps.ingest import opt_outs, uploads  # noqa: E402
from heatmaps.ingest.versions import deletion, retention_change  # noqa: E402
from heatmaps.ledger import facts, transitions  # noqa: E402
from heatmaps.ledger.transitions import moves  # noqa: E402
from heatmaps.ledger.verification import verify  # noqa: E402
from heatmaps.management import database_roles  # noqa: E402
from heatmaps.masses import column_copies  # noqa: E402
from heatmaps.migrations.tables_of_2026.frozen_releases import FROZEN  # noqa: E402
from heatmaps.models import ApiToken, CheckIn, DataVersion, Release, Suppression, Upload  # noqa: E402
from heatmaps.people import invitations  # noqa: E402
from heatmaps.releases import clock, heartbeat, lifecycle, publication, sweep  # noqa: E402
from tests.services import seed  # noqa: E402
from tests.services.roles import CLOCK, OWNER, WEB, WORKER  # noqa: E402
from tests.triggers import disabled  # noqa: E402

PAGES = (
    "dataset",
    "dataset-releases",
    "dataset-data",
    "dataset-budget",
    "people",
    "ledger",
    "spending",
    "allowances",
    "release-new",
    "schedule",
    "retention",
    "blur",
    "guides",
)
LISTS = ("dataset", "account", "dataversion", "release", "charge", "result", "event", "apitoken")
# What would have a published release drawn once more, or another one than was reserved.
AGAIN = {
    "set back": "UPDATE heatmaps_release SET state = 'spent' WHERE id = %s",
    "reserved again": "UPDATE heatmaps_release SET state = 'reserved' WHERE id = %s",
    "without a row": "DELETE FROM heatmaps_release WHERE id = %s",
    "without a result": "DELETE FROM heatmaps_result WHERE release_id = %s",
    "another result": "UPDATE heatmaps_result SET content = '' WHERE release_id = %s",
    "without an election": "DELETE FROM heatmaps_election WHERE release_id = %s",
    "another election": "UPDATE heatmaps_election SET release_id = NULL WHERE release_id = %s",
    "without a charge": "DELETE FROM heatmaps_charge WHERE release_id = %s",
    "another charge": "UPDATE heatmaps_charge SET amount = 0 WHERE release_id = %s",
    "another accuracy": "UPDATE heatmaps_release SET epsilon = '20/1' WHERE id = %s",
}
API = (
    "dataset",
    "versions",
    "uploads",
    "opt-outs",
    "releases",
    "ledger",
    "budget",
    "members",
    "spending",
    "guides",
)


@contextmanager
def signed_in_as(role):
    connection.close()
    connections.databases["default"]["USER"] = connection.settings_dict["USER"] = role
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == (role,)
    yield


def work(tasks):
    """Everything that was sent, as a worker, until nothing is left."""
    acts = {
        queue.RELEASE: lifecycle.run,
        queue.INGEST: lambda upload: (uploads.run(upload), column_copies.pack(upload)),
        queue.EXPIRE: lambda dataset: deletion.delete_rows(int(dataset)),
    }
    with signed_in_as(WORKER):
        while tasks:
            name, *ids = tasks.pop(0)
            acts[name](*ids)


def tick_until_told(release, tasks):
    """The clock's and the workers' turns, until the release's outcome is told."""
    while True:
        with signed_in_as(CLOCK):
            heartbeat.DatabaseHeartbeat().beat()
            clock.tick()
            if Release.objects.values_list("state", flat=True).get(pk=release.pk) not in moves.QUEUED:
                return
        work(tasks)


def begin_at(release, moment):
    with signed_in_as(OWNER), disabled(FROZEN):
        Release.objects.filter(pk=release.pk).update(starts_at=moment)


def settings_of_its_own():
    """What a web process runs with whose role set its own settings, by itself."""
    kept = "SELECT current_setting('synchronous_commit'), current_setting('statement_timeout')"
    with signed_in_as(WEB), connection.cursor() as cursor:
        cursor.execute("ALTER ROLE CURRENT_USER SET synchronous_commit = off")
        cursor.execute("ALTER ROLE CURRENT_USER SET statement_timeout = '1h'")
    with signed_in_as(WEB), connection.cursor() as cursor:
        cursor.execute(kept)
        row = cursor.fetchone()
        cursor.execute("ALTER ROLE CURRENT_USER RESET ALL")
    return list(row)


def reads_check_ins(role):
    with signed_in_as(role):
        return database_roles.reads_check_ins()


def file_of(people, day):
    rows = [f"u{at},{day}T08:30:00Z,0.{at % 97:02},0.{at % 89:02}" for at in range(people)]
    return io.BytesIO("\n".join(["user,time,lat,lon", *rows]).encode())


def main():
    tasks, refused = [], {}
    queue._send = lambda name, ids: tasks.append((name, *ids))
    settings.ALLOWED_HOSTS = ["testserver"]
    today = f"{timezone.now():%Y-%m-%d}"
    with signed_in_as(WEB):
        steward = User.objects.create_user("steward")
        administrator = User.objects.create_superuser("administrator")
        city = seed.make_dataset(steward, "city", limits={"presence": "4"})
        file = seed.store_guide(steward, city)
        transitions.record(city, "guide", actor=steward, before={}, after=facts.guide_facts(file))
        old = uploads.receive(steward, city, file_of(60, "2020-01-01"), name="old.csv")
    work(tasks)
    with signed_in_as(WEB):
        opt_outs.opt_out(steward, city, ["u1", "u2"])
        opt_outs.take_back(steward, city, ["u2"])
        new = uploads.receive(steward, city, file_of(50, today), name="new.csv", advance=False)
        undone = uploads.receive(steward, city, file_of(40, today), name="undone.csv", advance=False)
    work(tasks)
    with signed_in_as(WEB):
        uploads.undo(steward, Upload.objects.get(pk=undone.pk))
        retention_change.change(steward, city, 30, reason="agreed")
        city.refresh_from_db()
        uploads.advance(steward, city)
        asked = lifecycle.ReleaseRequest(mechanism="sparse-emd", epsilon="0.5", resolution=16)
        first = lifecycle.request_release(steward, city, asked)
        second = lifecycle.request_release(
            steward, city, lifecycle.ReleaseRequest(mechanism="laplace", epsilon="0.25", resolution=16)
        )
    # However busy the machine is, its moment has not come when it is cancelled.
    begin_at(second, timezone.now() + timedelta(hours=1))
    with signed_in_as(WEB):
        lifecycle.cancel(steward, second)
    begin_at(second, second.starts_at)
    with signed_in_as(WEB):
        guided = lifecycle.request_release(
            steward,
            city,
            lifecycle.ReleaseRequest(mechanism="adaptive", epsilon="2", resolution=16, guide=str(file.pk)),
        )
    work(tasks)
    for release in (first, guided):
        tick_until_told(release, tasks)
    with signed_in_as(WORKER):
        sweep.sweep()
    work(tasks)
    # So many that it should have a copy in columns, which its pages look for.
    count_rows(new, 200_000)
    with signed_in_as(WEB):
        first.refresh_from_db()
        publication.set_public(steward, first, public=True)
        refused |= open_everything(steward, administrator, city, first, new)
    count_rows(new, 50)
    drawn_again = [(role, name) for role in (WEB, WORKER) for name in may(role, first)]
    confirmed = restore(steward, city)
    with signed_in_as(WORKER):
        told = {
            "problem": verify(city).problem,
            "release": Release.objects.get(pk=first.pk).state,
            "public": publication.is_public(first.pk),
            "guided": Release.objects.get(pk=guided.pk).state,
            "cancelled": Release.objects.get(pk=second.pk).state,
            "uploads": sorted(Upload.objects.values_list("file_name", "state")),
            "check-ins": CheckIn.objects.filter(extent__upload__in=[old.pk, undone.pk]).count(),
            "kept": CheckIn.objects.filter(extent__upload=new.pk).count(),
            "opted out": Suppression.in_effect(DataVersion.objects.latest("number")).count(),
            "reads": administrator_reads(city),
            "confirmed": confirmed,
            "drawn again": drawn_again,
            "settings": settings_of_its_own(),
            "read check-ins": [role for role in (WEB, WORKER, CLOCK) if reads_check_ins(role)],
            "refused": refused,
        }
    print(json.dumps(told))


def count_rows(upload, rows):
    with signed_in_as(OWNER), disabled():
        Upload.objects.filter(pk=upload.pk).update(rows_accepted=rows)


def may(role, release):
    """The names of what a role is not refused that makes another draw of a published release."""
    done = []
    with signed_in_as(role), connection.cursor() as cursor:
        for name, statement in AGAIN.items():
            try:
                cursor.execute(statement, [release.pk])
            except DatabaseError:
                continue
            done.append(name)
    return done


def restore(steward, city):
    """The status of a steward's confirmation, after the owner of the tables let a restored server go on."""
    with signed_in_as(OWNER):
        transitions.restore(city, transitions.Unknown(charges={}, other_copy="unknown", reason="a test"))
    with signed_in_as(WEB):
        client = Client(raise_request_exception=False)
        client.force_login(steward)
        page = reverse("restoration", args=[city.slug])
        assert client.get(page).status_code == 200
        return client.post(page, {"opt_outs_entered": "yes"}).status_code


def open_everything(steward, administrator, city, release, upload):
    """The pages, lists and addresses that web could not answer, with their status."""
    invitations.invite(steward, city, "analyst")
    refused = {}
    for person in (steward, administrator):
        client = Client(raise_request_exception=False)
        client.force_login(person)
        asked = [reverse(name, args=[city.slug]) for name in PAGES]
        asked += [
            reverse("release", args=[release.pk]),
            reverse("release-download", args=[release.pk, "csv"]),
        ]
        asked += [reverse("datasets"), reverse("account"), reverse("upload", args=[upload.pk])]
        if person == administrator:
            asked += [reverse(f"admin:heatmaps_{name}_changelist") for name in LISTS] + [reverse("accounts")]
        token = ApiToken.objects.create(user=person, name="day", scopes=["read", "release", "steward"])[1]
        header = {"HTTP_AUTHORIZATION": f"Bearer {token}"}
        asked += [reverse(f"api:{name}", args=[city.slug]) for name in API]
        asked.append(reverse("api:upload", args=[upload.pk]))
        for address in asked:
            status = client.get(address, **(header if address.startswith("/api/") else {})).status_code
            if status >= 500 or (person == steward and status != 200):
                refused[f"{person.username} {address}"] = status
    return refused


def administrator_reads(city):
    return city.administrator_reads.count() > 10


if __name__ == "__main__":
    main()
