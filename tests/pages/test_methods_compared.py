"""“Methods compared” is a page of the manual; where none is built, help says how."""

from django.urls import reverse


def test_it_is_linked_from_the_help_and_where_a_mechanism_is_chosen(client_of, dataset):
    address = reverse("help-mechanisms")
    for name, arguments in (("help", []), ("release-new", [dataset.slug])):
        page = client_of("analyst").get(reverse(name, args=arguments), {"open": "method"}).content.decode()
        assert f'href="{address}"' in page
    assert address not in client_of("anonymous").get(reverse("help")).content.decode()


def test_help_leads_to_the_page_or_says_how_to_build_it(client_of, settings, tmp_path):
    client = client_of("analyst")
    settings.MANUAL_DIR = tmp_path
    unbuilt = client.get(reverse("help-mechanisms"))
    assert unbuilt.status_code == 200
    assert "make docs" in unbuilt.content.decode()

    (tmp_path / "index.html").write_text("<!doctype html>")
    assert client.get(reverse("help-mechanisms")).status_code == 200  # a manual of before
    (tmp_path / "explanation").mkdir()
    (tmp_path / "explanation/measurements.html").write_text("<!doctype html>")
    page = reverse("manual-page", args=["explanation/measurements.html"])
    assert client.get(reverse("help-mechanisms")).url == page
    assert client.get(reverse("help-measurement", args=["points"])).url == f"{page}#points"
