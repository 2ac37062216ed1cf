"""What is raised for a peer that is not installed."""

from __future__ import annotations


class Missing(Exception):
    """Why a peer cannot be measured here."""
