"""Plans over HTTP: wishes become a loss per metre; what is not allowed is named."""

import pytest

DAY = {"part": "1/30", "distance_m": "1609344", "epsilon": "0.2"}
MONTH = {"part": "1", "distance_m": "160934.4", "epsilon": "0.2"}


@pytest.mark.django_db
def test_it_plans_and_says_so(api):
    answer = api("analyst").send("POST", "plans", body={"wishes": [DAY, MONTH], "radius_m": "1000"})
    assert answer.status_code == 200
    assert float(answer.json()["alpha_per_m"]) == pytest.approx(1.2427e-6, rel=1e-4)
    assert float(answer.json()["epsilon"]) == pytest.approx(1.2427e-3, rel=1e-4)
    assert "Moving the whole record by up to 160 km" in answer.json()["sentences"][2]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"part": "2"}, 422),
        ({"distance_m": "0"}, 422),
        ({"epsilon": "1e9"}, 422),
        ({"part": "x"}, 422),
        ({"q": 1}, 400),
    ],
)
def test_it_refuses_what_is_no_wish(api, changed, status):
    answer = api("analyst").send("POST", "plans", body={"wishes": [DAY | changed]})
    assert answer.status_code == status
