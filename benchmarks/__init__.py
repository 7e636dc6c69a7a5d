"""Numerical studies that accompany the package; run from a source checkout."""
