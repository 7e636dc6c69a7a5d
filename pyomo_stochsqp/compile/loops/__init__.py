"""The plan as loops, compiled by numba (optional).

jit           compiled functions
store         their files, and whom they are taken from
loops         lines and inputs of a function of loops
loop_parts    the parts of a plan
loop_block    one block
loop_leaves   affine forms
"""
