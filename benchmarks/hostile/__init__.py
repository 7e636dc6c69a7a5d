r"""Is anything lost, misread or let in?

declarations   bad data and bad models: is each refused with a clear error?
bad_values     what is no number, and the places where it is put
bad_models     mistakes of other kinds, one by one
bad_recourse   the same in two-stage models
runs           the models whose runs are disturbed
children       runs in processes that may be killed
kills          runs that are killed and continued
signals        Ctrl-C and SIGTERM at any call of any function
writes         files that cannot be written
damage         checkpoints with flipped bits, cut short, overwritten
soak           many solves in one process
expressions    random expressions: are all numbers right?
trees          expressions with everything that is awkward
taylor         what they should give, in extended precision
"""
