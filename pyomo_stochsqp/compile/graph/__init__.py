"""The graph that code is written from.

values        operations with what each depends on
tape          expressions with their leaves taken out: equal structures are recognised
block         terms of equal structure, evaluated together
partials      local derivatives
adjoint       all first derivatives of a value
support       the variables behind a leaf
layout        where results go; the pattern of J
hessian_plan  second derivatives and their pattern
cost          estimated work
"""
