"""Expressions as sums  const + sum_k coef_k * node_k.

node               sub-expressions, equal ones being one object
form, normal_form  the sum and its arithmetic
stable_functions   exponentials that must not overflow
lower              from Pyomo's expression objects
affine_parts       long sums of coefficient * variable
means              expectations pushed down to the data
"""
