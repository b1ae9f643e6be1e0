"""Words what becomes of the queued releases of somebody who loses a role or an account."""

from heatmaps.people.reservations import Ending


def ending_words(ending: Ending) -> str:
    """Words it in the past; empty where nothing was queued."""
    sentences = []
    if ending.cancelled:
        was = "release was" if ending.cancelled == 1 else "releases were"
        sentences.append(f"{ending.cancelled} queued {was} cancelled, and the budget is back.")
    if ending.retained:
        stays = "release stays" if ending.retained == 1 else "releases stay"
        sentences.append(f"{ending.retained} queued {stays} and will be drawn.")
    if ending.begun:
        had = "release had" if ending.begun == 1 else "releases had"
        sentences.append(f"{ending.begun} {had} begun and will end as usual. What they cost stays spent.")
    return " ".join(sentences)
