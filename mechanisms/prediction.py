"""Predicted errors: bounds from public facts alone, for quotes before anything is spent or read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorBound:
    """A documented bound on the expected earth mover's distance of the normalised map.

    `emd` is on the unit square with L1 ground distance, capped at its largest possible value.
    `quantity` and `assumptions` are one plain sentence each: what is bounded, and what is left out.
    """

    emd: float
    quantity: str
    assumptions: str
