"""Shows public files that stewards stored with datasets: districts, and maps to start from."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from heatmaps.admin.shared import Administrators
from heatmaps.models import DistrictFile, GuideFile
from heatmaps.numbers import moment


class StoredFiles(Administrators):
    """Shows what a file is and where it is from; its contents are read on the dataset's pages."""

    dataset_path = "dataset"
    binary = ""  # the column that is never read here
    list_display = ("title", "dataset", "source", "stored_by", "stored_minute")
    search_fields = ("title", "dataset__slug")
    list_select_related = ("dataset", "stored_by")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).defer(self.binary)

    @admin.display(description="stored")
    def stored_minute(self, file: DistrictFile | GuideFile) -> str:
        return moment(file.stored_at)


@admin.register(DistrictFile)
class DistrictFileAdmin(StoredFiles):
    binary = "content"
    ordering = ("dataset", "title")
    fields = (
        *("id", "dataset", "title", "source", "licence", "name_property"),
        *("areas", "corners", "sha256", "stored_by", "stored_minute"),
    )


@admin.register(GuideFile)
class GuideFileAdmin(StoredFiles):
    binary = "shares"
    ordering = ("dataset", "title")
    fields = (
        *("id", "dataset", "title", "source", "licence"),
        *("file_sha256", "sha256", "sheet", "stored_by", "stored_minute"),
    )
