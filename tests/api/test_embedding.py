"""Which websites may embed public maps, over HTTP."""

import pytest

from heatmaps.models import Dataset, Event

NEWS = "https://news.example"


def test_it_is_changed_alone_or_with_other_rules(api, dataset):
    def patch(**body):
        return api("steward").send("PATCH", "dataset", dataset.slug, body=body | {"reason": "agreed"}).json()

    assert api("analyst").send("GET", "dataset", dataset.slug).json()["embed_origins"] == []
    assert patch(embed_origins=[f"{NEWS}/"])["embed_origins"] == [NEWS]
    assert patch(retention_days=30)["embed_origins"] == [NEWS]  # what is not named stays
    assert patch(embed_origins=[])["embed_origins"] == []
    assert Event.objects.filter(dataset=dataset, kind="embedding").count() == 2


@pytest.mark.parametrize(
    "body",
    [
        {"embed_origins": [NEWS]},
        {"embed_origins": NEWS, "reason": "x"},
        {"embed_origins": [NEWS, 1], "reason": "x"},
        {"embed_origins": [NEWS, "https://*.example"], "reason": "x"},
        {"embed_origins": [f"https://{number}.example" for number in range(21)], "reason": "x"},
        {"embed_origins": [NEWS], "retention_days": 0, "reason": "x"},
    ],
)
def test_it_changes_wholly_or_not_at_all(api, dataset, body):
    answer = api("steward").send("PATCH", "dataset", dataset.slug, body=body)
    assert answer.status_code in {400, 422}
    assert answer.json()["errors"]
    assert Dataset.objects.get(pk=dataset.pk).embed_origins == []


def test_an_error_names_field_value_and_what_is_allowed(api, dataset):
    body = {"embed_origins": ["https://*"], "reason": "x"}
    [said] = api("steward").send("PATCH", "dataset", dataset.slug, body=body).json()["errors"]
    assert said["field"] == "embed_origins"
    assert "https://*" in said["detail"]
    assert "no wildcard" in said["detail"]
