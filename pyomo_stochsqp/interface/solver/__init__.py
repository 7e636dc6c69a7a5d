"""The solver in Pyomo's two interfaces.

solver            the new interface
session           one run with everything that watches it
results           what a solve returns
two_stage         a solve with recourse, as results; smooth_recourse, with nonlinear functions
solution          a point and its multipliers, back into the model
together          the same solve by all ranks of a communicator
callback          what a user's function sees
rescue            what is left of a run that an error has ended
resume            what belongs to a run's identity
threads           of the linear algebra libraries
legacy            the legacy interface; legacy_results
"""
