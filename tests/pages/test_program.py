"""Pages name commands as this installation calls them."""

from pathlib import Path

import pytest
from django.urls import reverse

from heatmaps.config.environment import program
from heatmaps.models import Profile
from tests.services.installation import ROOT


@pytest.mark.parametrize("name", ["manage.py", "hazemap"])
def test_an_empty_home_names_the_command_that_makes_the_demo(client, django_user_model, settings, name):
    settings.PROGRAM = name
    client.force_login(django_user_model.objects.create_superuser("administrator"))
    page = client.get(reverse("home")).content.decode()
    assert f"<code>{name} createdemo</code>" in page


def test_a_home_of_others_datasets_names_no_demo(client, django_user_model, dataset):
    client.force_login(django_user_model.objects.create_superuser("another"))
    page = client.get(reverse("home")).content.decode()
    assert "createdemo" not in page
    assert f'already: <a href="{reverse("datasets")}">all datasets</a>' in page


def test_who_runs_no_commands_is_told_none(client, django_user_model):
    person = django_user_model.objects.create_user("creator")
    Profile.objects.create(user=person, may_create_datasets=True)
    client.force_login(person)
    page = client.get(reverse("home")).content.decode()
    assert "New dataset" in page
    assert "createdemo" not in page


def test_no_page_names_the_script_of_a_checkout_itself():
    assert [
        path.name for path in (ROOT / "templates").rglob("*.html") if "manage.py" in path.read_text()
    ] == []


def test_a_package_is_called_by_its_command():
    assert program(ROOT) == program(Path("checkouts/hazemap")) == program(Path("/app")) == "manage.py"
    assert program(Path("installed/hazemap/app")) == "hazemap"
