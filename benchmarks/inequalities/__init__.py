"""Inequalities and bounds: noise, dependent rows, curvature, nonconvex problems."""
