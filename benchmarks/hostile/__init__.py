r"""Is anything lost, misread or let in?

declarations   bad data and bad models: is each refused with a clear error?
bad_values     what is no number, and the places where it is put
bad_models     mistakes of other kinds, one by one
damage         checkpoints with flipped bits, cut short, overwritten
runs           the models whose runs are disturbed
expressions    random expressions: are all numbers right?
trees          expressions with everything that is awkward
taylor         what they should give, in extended precision
"""
