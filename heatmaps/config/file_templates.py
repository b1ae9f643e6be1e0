"""Provides Django's templates to commands that work on files, which show no page."""

from django.template.backends.django import DjangoTemplates


class FileTemplates(DjangoTemplates):
    """Finds no tags by itself: those of pages load models."""

    def get_templatetag_libraries(self, custom_libraries: dict[str, str]) -> dict[str, str]:
        return custom_libraries
