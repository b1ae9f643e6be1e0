"""`createdemo`: accounts and a city through the real paths; run again, it keeps what is there."""

import stat

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from heatmaps.demo import accounts
from heatmaps.demo import datasets as demo_datasets
from heatmaps.demo.city import City
from heatmaps.demo.datasets import DEMOS, Demo
from heatmaps.demo.places import REGION
from heatmaps.ledger import verification
from heatmaps.models import ApiToken, CheckIn, Dataset, Release, ReleaseState, Scope, Upload, UploadState
from heatmaps.releases import lifecycle
from tests.triggers import disabled


@pytest.fixture
def small(monkeypatch):
    """The same demo with fewer check-ins."""
    cities = (City(persons=50, checkins=400, seed=1), City(persons=40, checkins=300, seed=2))
    demos = [
        Demo(new=demo.new, city=city, release=demo.release) for demo, city in zip(DEMOS, cities, strict=True)
    ]
    monkeypatch.setattr(demo_datasets, "DEMOS", demos)


def run(*options):
    call_command("createdemo", *options, verbosity=0)


def lines(path):
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def credentials(state):
    return lines(state / "credentials")


def authenticated(token):
    user, _ = TokenAuthentication().authenticate_credentials(token.encode())
    return user


def test_it_makes_one_dataset_of_each_relation_with_a_published_release_each(state):
    run()
    assert dict(Dataset.objects.values_list("relation", "is_demo")) == {"add_remove": True, "replace": True}
    assert set(Upload.objects.values_list("state", flat=True)) == {UploadState.READY}
    accepted = dict(Upload.objects.values_list("dataset__relation", "rows_accepted"))
    assert 38_000 < accepted["add_remove"] < 40_000
    assert set(Release.objects.values_list("state", flat=True)) == {ReleaseState.PUBLISHED}
    found = {release.mechanism: lifecycle.result_of(release) for release in Release.objects.all()}
    assert set(found) == {"adaptive", "exponential"}
    assert found["adaptive"].values.sum() > 0
    assert REGION.contains(found["exponential"].lat, found["exponential"].lon)
    record = Dataset.objects.get(relation="replace").accounts.get(kind="record")
    assert record.committed < record.limit / 4  # most of the budget is left to whoever tries it
    assert all(verification.verify(dataset).ok for dataset in Dataset.objects.all())


def test_it_writes_credentials_that_work_into_a_private_file(state):
    run("--empty")
    written = credentials(state)
    assert list(written) == ["username", "password", "token"]
    assert stat.S_IMODE((state / "credentials").stat().st_mode) == 0o600
    steward = authenticate(username=written["username"], password=written["password"])
    assert not steward.is_staff
    assert authenticated(written["token"]) == steward
    token = ApiToken.objects.get()
    assert token.name == "demo"
    assert set(token.scopes) == set(Scope)
    assert written["token"] not in token.digest


def test_it_makes_an_administrator(state):
    run("--empty")
    path = accounts.administrator_credentials_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    administrator = authenticate(**lines(path))
    assert administrator.is_superuser
    assert administrator.is_staff


def test_it_can_start_empty(state):
    run("--empty")
    assert not Dataset.objects.exists()


def test_it_keeps_everything_when_run_again(state, small):
    run()
    before = credentials(state), set(Release.objects.values_list("pk")), CheckIn.objects.count()
    run()
    after = credentials(state), set(Release.objects.values_list("pk")), CheckIn.objects.count()
    assert before == after
    assert Dataset.objects.count() == 2
    assert Upload.objects.count() == 2


def test_it_adds_the_city_to_an_empty_start(state, small):
    run("--empty")
    before = credentials(state)
    run()
    assert Dataset.objects.count() == 2
    assert credentials(state) == before


def test_it_gives_new_secrets_when_the_file_is_lost_and_the_old_ones_end(state):
    run("--empty")
    old = credentials(state)
    (state / "credentials").unlink()
    (state / "credentials.new").write_text("of a run that was killed")
    run("--empty")
    new = credentials(state)
    assert authenticate(username=new["username"], password=new["password"])
    assert authenticate(username=old["username"], password=old["password"]) is None
    with pytest.raises(AuthenticationFailed):
        authenticated(old["token"])


def test_it_makes_new_secrets_for_a_new_database(state):
    (state / "credentials").write_text("username=steward\npassword=old\ntoken=old\n")
    run("--empty")
    written = credentials(state)
    assert authenticate(username=written["username"], password=written["password"])


def test_it_keeps_a_password_the_steward_changed(state):
    run("--empty")
    steward = authenticate(**{name: credentials(state)[name] for name in ("username", "password")})
    steward.set_password("my own")
    steward.save()
    run("--empty")
    assert authenticate(username=steward.username, password="my own")


def test_it_finishes_what_a_killed_run_had_begun(state, small, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(demo_datasets.inline, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert Upload.objects.get().state == UploadState.RECEIVED
    with monkeypatch.context() as patch:
        patch.setattr(lifecycle, "run", stop)
        with pytest.raises(KeyboardInterrupt):
            run()
    assert Release.objects.get().state == ReleaseState.SPENT
    run()
    assert set(Release.objects.values_list("state", flat=True)) == {ReleaseState.PUBLISHED}
    assert Upload.objects.filter(state=UploadState.READY).count() == 2


def stop(*_args, **_kwargs):
    raise KeyboardInterrupt


@pytest.mark.unguarded
def test_it_asks_again_when_the_first_release_had_no_result(state, small):
    run()
    Release.objects.update(state=ReleaseState.FAILED)
    run()
    assert set(Release.objects.values_list("state", flat=True)) == {
        ReleaseState.FAILED,
        ReleaseState.PUBLISHED,
    }


def test_it_does_not_touch_a_real_dataset_of_the_same_name(state, small):
    run()
    Dataset.objects.update(is_demo=False)
    with disabled():
        Upload.objects.update(state=UploadState.FAILED)
    run()
    assert Upload.objects.count() == 2


def test_it_says_where_the_secrets_are_and_not_what_they_are(state, capsys):
    run("--empty")
    output = capsys.readouterr().out
    assert str(state / "credentials") in output
    written = credentials(state)
    assert written["password"] not in output
    assert written["token"] not in output
