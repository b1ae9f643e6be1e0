"""Details of refusals are sentences."""

import pytest
from django.core.exceptions import PermissionDenied
from rest_framework.exceptions import ValidationError

from api.errors import handle
from mechanisms.check import ParameterError


@pytest.mark.parametrize(
    ("error", "detail"),
    [
        (PermissionDenied("this account is closed"), "This account is closed"),
        (PermissionDenied(""), ""),
        (ValidationError({"bbox": "expected a number"}), "bbox: expected a number"),
        (ValidationError("expected a JSON object"), "Expected a JSON object"),
        (ParameterError("title", "x", "a name"), "title: x is not allowed; allowed: a name"),
    ],
)
def test_they_begin_with_a_capital_unless_with_a_field(error, detail):
    assert handle(error, {}).data["detail"] == detail
