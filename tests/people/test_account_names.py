"""Names of new accounts: of one script, like no other name, and no word for something else."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.urls import reverse

from heatmaps.people import account_names, invitations

PASSWORD = "long enough to pass"


def refusal(name):
    with pytest.raises(ValidationError) as refused:
        account_names.checked(name)
    return refused.value.messages[0]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "scripts"),
    [
        ("mаria", "Cyrillic and Latin"),
        ("annα", "Greek and Latin"),
        ("аннα", "Cyrillic and Greek"),
        ("annaա", "Armenian and Latin"),
        ("анна田", "Cyrillic and Han"),
        ("田ㄅひ", "Bopomofo and Han and Hiragana"),
        ("anna\u0663", "Arabic and Latin"),
    ],
)
def test_no_name_mixes_scripts(name, scripts):
    assert refusal(name) == f"This name mixes letters of {scripts}: use those of one script."


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    [
        *(
            "anna",
            "Żaneta.Łoś",
            "o_brien-2@example.org",
            "анна",
            "Ігор",
            "Ελένη1",
            "אנה",
            "ليلى",
            "अनघ",
            "4711",
        ),
        *("たなかゆみ", "田中ユミー", "山田ken", "김민지", "金민지", "王小明", "王ㄒㄧㄠ", "ａｎｎａ"),
    ],
)
def test_names_of_one_script_and_of_usual_ways_of_writing_are_taken(name):
    assert account_names.checked(name)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("taken", "name"),
    [
        ("coco", "сосо"),
        ("coco", "СОСО"),
        ("сосо", "coco"),
        ("AKTH", "АКТН"),
        ("alice", "aIice"),
        ("alice", "a1ice"),
        ("bob", "b0b"),
        ("ορα", "opa"),
        ("alice", "alıce"),
        ("anna", "ɑnna"),
        ("Alice", "ａＬＩＣＥ"),
    ],
)
def test_no_name_looks_like_one_that_is_taken(taken, name):
    User.objects.create_user(taken)

    assert refusal(name) == "This name is taken, or looks like one that is."


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "told"),
    [
        *(
            (name, "reserved")
            for name in (
                "null",
                "Null",
                "NONE",
                "administrator",
                "admin",
                "r00t",
                "nu11",
                "аdministrator",
                "stеward",
            )
        ),
        *((name, "Begin the name with") for name in ("..", ".", "-x", "@anna", "_", "+1")),
    ],
)
def test_no_name_is_a_word_for_something_else(name, told):
    assert told in refusal(name)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["alice\u3164", "\uffa0", "a\u115flice", "ꓮꓡꓲꓚꓰ", "ᎪᏞᏆᏟᎬ", "ⲟⲣⲁ"])
def test_no_name_is_of_letters_that_nobody_sees_or_of_scripts_that_few_write(name):
    User.objects.create_user("alice")

    assert refusal(name) == "Use letters of a script in everyday use."


def test_who_has_such_a_name_keeps_it(client_of):
    User.objects.create_user("аdministrator", password=PASSWORD)
    client = client_of("anonymous")

    client.post(reverse("account_login"), {"login": "аdministrator", "password": PASSWORD})

    assert client.get(reverse("account")).status_code == 200


@pytest.mark.parametrize("name", ["аdministrator", "..", "null"])
def test_invitations_make_no_such_account(client_of, administrator, name):
    link = invitations.invite_to_installation(administrator, may_create_datasets=False)
    typed = {"username": name, "password1": PASSWORD, "password2": PASSWORD}

    answer = client_of("anonymous").post(reverse("invitation", args=[link.secret]), typed)

    assert answer.status_code == 422
    assert not User.objects.filter(username=name).exists()
