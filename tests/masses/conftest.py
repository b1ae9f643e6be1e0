"""The databases and datasets of the ingest's tests."""

from tests.ingest import conftest as of_the_ingest

for _name, _fixture in vars(of_the_ingest).items():
    if type(_fixture).__name__ == "FixtureFunctionDefinition":
        globals()[_name] = _fixture
