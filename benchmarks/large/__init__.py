"""What size costs: tables on disk, simulators in several processes, ranks.

__main__    the commands
simulators  samplers that take 5 ms a row, in several processes
tables      iterations on tables of any size, hot and cold; a Parquet table larger than a limit
ranks       the same bits on any number of MPI ranks, and what they gain
job         what mpiexec runs
plan        the constants of a machine, and what they make of 10^10 rows
"""
