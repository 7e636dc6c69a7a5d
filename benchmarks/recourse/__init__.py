"""Smooth nonlinear recourse: derivatives, answers, what certificates take."""
