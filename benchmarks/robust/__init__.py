r"""Random smooth models without randomness, of many kinds: who solves them, and who is wrong.

kinds     the models
check     first-order conditions at a point, computed without the solver under test
__main__  the table: failures and wrong answers of this package beside a port of IPOPT
"""
