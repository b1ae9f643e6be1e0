"""The product's settings without what is there to make people wait: slots' length, questions a day."""

from heatmaps.config.settings import *  # noqa: F403

SLOT_SECONDS = dict.fromkeys(SLOT_SECONDS, 0)  # noqa: F405
MOST_QUESTIONS_A_DAY = dict.fromkeys(MOST_QUESTIONS_A_DAY, 1_000_000)  # noqa: F405
