"""Asks a Hazemap server for private heatmaps, and reads them into NumPy, GeoPandas and rasterio."""

from hazemap_client.budget import Budget
from hazemap_client.client import Client
from hazemap_client.datasets import Dataset
from hazemap_client.errors import BudgetExceeded, HazemapError, Refusal
from hazemap_client.questions import Quote
from hazemap_client.releases import Release
from hazemap_client.uploads import Upload

__all__ = [
    "Budget", "BudgetExceeded", "Client", "Dataset", "HazemapError", "Quote", "Refusal", "Release", "Upload",
]  # fmt: skip
