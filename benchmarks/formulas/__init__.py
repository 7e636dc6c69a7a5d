r"""Formulas of expectations and functionals, against exact answers.

portfolios    models over four assets, written once for Pyomo and for NumPy
chance        chance constraints with known answers
checks        how default solves of both end, and whether that is true
bias          formulas of small batches, with and without the jackknife
rounded       what rounding kinks off costs
"""
