"""The people, datasets and clients of the tests of the API and the pages."""

from tests.api import conftest as of_the_api
from tests.pages import conftest as of_the_pages

for _name in ("no_broker", "people", "client_of", "make_dataset", "dataset", "upload"):
    globals()[_name] = getattr(of_the_pages, _name)
for _name in ("start_later", "queued", "published", "addresses"):
    globals()[_name] = getattr(of_the_pages, _name)
for _name in ("no_counts_of_earlier_tests", "token_of", "api", "question", "work", "client_of_token"):
    globals()[_name] = getattr(of_the_api, _name)
