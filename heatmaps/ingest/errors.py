"""Defines why an upload was refused, in words for the steward."""

from heatmaps.models import Dataset

READS_A_SOURCE = "reads_a_source"


class UploadError(ValueError):
    """Says that the file is not taken; nothing of it is stored. `code` tells programs which refusal it is."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


def refuse_elsewhere(dataset: Dataset, reason: str) -> None:
    """Refuses what is entered elsewhere. Errors: `UploadError`, unless there is no reason."""
    if reason:
        raise UploadError(READS_A_SOURCE, reason.format(source=dataset.source))


class LeaseLost(Exception):  # noqa: N818 - no fault: somebody else took the upload over
    """Says that the sweep took this worker for dead and gave its upload to another; stop without a trace."""
