"""Words how users are told apart, and how likely two of them count as one."""

from fractions import Fraction
from typing import Final

from heatmaps.models import Dataset, UserForm
from heatmaps.numbers import count

MANY: Final = 10**9  # persons, where their number is secret
_FORMS: Final = {
    UserForm.AS_SENT: ", as files have them",
    UserForm.NFC: " in Unicode's normal form C",
    UserForm.DECIMAL: " in Unicode's normal form C, numbers of JSON as exact decimals",
}


def told_apart(dataset: Dataset) -> str:
    """Writes a sentence for the release sheet, from public facts alone."""
    bits = dataset.person_bits
    form = _FORMS[UserForm(dataset.user_form)]
    n = dataset.persons or MANY
    number = f"the {count(n)} enrolled" if dataset.persons else "a billion"
    return (
        f"users are told apart by keyed hashes of {bits} bits of their names{form}; with n people, a given "
        f"one is taken together with another with a probability of at most n/2^{bits}, which is below "
        f"{_above(Fraction(n, 2**bits))} for {number}"
    )


def _above(probability: Fraction) -> str:
    """Writes the next number with two digits, such as "1.1e-10"."""
    exponent = -len(str(probability.denominator // probability.numerator))
    tenths = int(probability * 10 ** (1 - exponent)) + 1
    return f"{tenths // 10}.{tenths % 10}e{exponent}"
