"""Imports what any program of ours needs, Django set up without an app and numpy, and does nothing."""

import django
import numpy as np
from django.conf import settings

settings.configure()
django.setup()
np.zeros(1)
