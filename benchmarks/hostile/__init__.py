r"""Is anything lost, misread or let in?

declarations   bad data and bad models: is each refused with a clear error?
bad_values     what is no number, and the places where it is put
bad_models     mistakes of other kinds, one by one
"""
