r"""Two-stage linear programs of the public test set, in SMPS format.

instances     the set, its reference values, and the exact values of the small ones
contestants   one program solved in three ways: certified, as a plain extensive form, by mpi-sppy
peer_model    what mpi-sppy wants to know of a model
tables        what the commands print
"""
