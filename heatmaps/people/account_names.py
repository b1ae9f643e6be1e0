"""Says which names new accounts may have. Names stand in ledgers for good, and people trust them.

A name is of one script in everyday use (UTS 39, section 5.2, "highly restrictive"): Latin letters go with
those of Japanese, Chinese or Korean alone. No name looks like one that is taken, by the letters that are
known here to look alike. Accounts that are there keep theirs.
"""

import unicodedata
from functools import reduce
from typing import Final

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from fontTools.unicodedata import script_extension, script_name

LONGEST: Final = 150  # characters
# What pages, logs, programs or people take for something else than a person's name. `createdemo` gives
# "administrator" rights, whoever has that name.
RESERVED: Final = frozenset(
    (
        *("null", "none", "nil", "nan", "undefined", "void", "true", "false", "unknown", "deleted"),
        *("admin", "administrator", "root", "superuser", "system", "operator", "server", "hazemap"),
        *("steward", "analyst", "auditor", "contributor", "staff", "support", "security", "webmaster"),
        *("postmaster", "hostmaster", "abuse", "anonymous", "nobody", "somebody", "someone", "anybody"),
        *("anyone", "everybody", "everyone", "me", "self", "you"),
    )
)

# UAX 31, table 5. Scripts that few or none still write have whole alphabets of letters like Latin ones.
_IN_USE: Final = frozenset(
    (
        *("Arab", "Armn", "Beng", "Bopo", "Cyrl", "Deva", "Ethi", "Geor", "Grek", "Gujr", "Guru", "Hang"),
        *("Hani", "Hebr", "Hira", "Kana", "Khmr", "Knda", "Laoo", "Latn", "Mlym", "Mymr", "Orya", "Sinh"),
        *("Taml", "Telu", "Thaa", "Thai", "Tibt"),
    )
)
_INVISIBLE: Final = frozenset("\u115f\u1160\u3164\uffa0")  # letters of Hangul that fill a place
_ANY: Final = {"Zyyy", "Zinh"}  # common and inherited: digits, punctuation
_LATIN: Final = "Latn"
# Ways of writing in several scripts at once (UTS 39, section 5.1).
_WRITINGS: Final = {
    "Hani": {"Jpan", "Hanb", "Kore"},
    "Hira": {"Jpan"},
    "Kana": {"Jpan"},
    "Hang": {"Kore"},
    "Bopo": {"Hanb"},
}
# Letters that look like Latin ones, most of UTS 39's; capitals apart, as they look like others.
_ALIKE: Final = str.maketrans(
    "аеорсухіјѕԁһԛԝӏьєгԌАВЕКМНОРСТУХІЈЅԚԜοανρτυικγΑΒΕΖΗΙΚΜΝΟΡΤΥΧօսոհցյԼՏ0I1ıɩɪɑɡǀᴄᴏꜱᴠᴡᴢƅ",
    "aeopcyxijsdhqwlbergabekmhopctyxljsqwoavptuikyabezhlkmnoptyxounhgjlsolliiiaglcosvwzb",
)


def checked(name: str) -> str:
    """Returns a name for a new account. Errors: ValidationError that says why nobody may have it."""
    for validate in User.username_validator, MaxLengthValidator(LONGEST):
        validate(name)
    name = unicodedata.normalize("NFKC", name)
    if is_taken(name):
        raise ValidationError("This name is taken, or looks like one that is.", code="username_taken")
    if not name[0].isalnum():
        raise ValidationError("Begin the name with a letter or a digit.", code="username_invalid")
    if _look(name) in map(_look, RESERVED):
        raise ValidationError("This name is reserved.", code="username_reserved")
    if not all(map(_is_in_use, name)):
        raise ValidationError("Use letters of a script in everyday use.", code="username_invalid")
    if not _is_of_one_script(name):
        raise ValidationError(
            f"This name mixes letters of {_listed_scripts(name)}: use those of one script.",
            code="username_mixed",
        )
    return name


def is_taken(name: str) -> bool:
    """Returns whether it is somebody's name, in another spelling, or looks like it."""
    spelling, look = _spelling(name), _look(name)
    # No database folds names as Unicode does.
    names = User.objects.values_list("username", flat=True).iterator()
    return any(_spelling(other) == spelling or _look(other) == look for other in names)


def _spelling(name: str) -> str:
    """Returns the same text for all spellings of a name."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()


def _look(name: str) -> str:
    """Returns the same text for names that look alike."""
    return _spelling(unicodedata.normalize("NFKC", name).translate(_ALIKE))


def _is_of_one_script(name: str) -> bool:
    script_sets = [_scripts(character) for character in name]
    scripts = [each for each in script_sets if each]
    if not scripts or reduce(set.intersection, scripts):
        return True
    return any(all(each & {_LATIN, writing} for each in scripts) for writing in ("Jpan", "Hanb", "Kore"))


def _is_in_use(character: str) -> bool:
    return character not in _INVISIBLE and bool(script_extension(character) & (_IN_USE | _ANY))


def _scripts(character: str) -> set[str]:
    """Returns the scripts, and ways of writing, that use a character; none where all do."""
    scripts: set[str] = set(script_extension(character))
    if scripts & _ANY:
        return set()
    return scripts.union(*(_WRITINGS.get(script, set()) for script in scripts))


def _listed_scripts(name: str) -> str:
    """Lists their names, such as "Cyrillic and Latin"."""
    scripts = {min(script_extension(character)) for character in name if _scripts(character)}
    return " and ".join(sorted(script_name(script).replace("_", " ") for script in scripts))
