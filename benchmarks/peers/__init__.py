"""Against what a user would do instead, on the same data, to the same error.

families      three models over a table, written by hand in NumPy and CasADi and in Pyomo
recourse      a two-stage model in scenario blocks
kkt           the error of an answer, from its functions alone
contestants   who is compared
measure       one measurement, in a process of its own
tables        what the result file says: Markdown and figures
__main__      the commands
"""
