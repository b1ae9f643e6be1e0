"""Carries out what a form asks for."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from django import forms
from django.http import HttpRequest

from heatmaps.ledger.errors import LedgerError
from heatmaps.people.refusals import MemberError
from heatmaps.releases.names import NameMoved
from heatmaps.views.fields import explain
from mechanisms.check import ParameterError

_BY_NAME: Final[Mapping[str, str]] = MappingProxyType({})


def submitted(
    request: HttpRequest,
    form: forms.Form,
    act: Callable[[], object],
    fields: Mapping[str, str] = _BY_NAME,
) -> bool:
    """Tells whether the form was sent and `act` is done; what refuses it is said at the field it is about.

    fields: which field holds which parameter, where their names differ.
    """
    if request.method != "POST" or not form.is_valid():
        return False
    try:
        act()
    except ParameterError as error:
        explain(form, error, fields)
    except (LedgerError, MemberError, NameMoved) as refusal:
        form.add_error(None, f"{refusal}.")
    return form.is_valid()
