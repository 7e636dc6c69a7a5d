"""What size costs: tables on disk, simulators in several processes, ranks.

__main__    the commands
simulators  samplers that take 5 ms a row, in several processes
tables      iterations on tables of any size, hot and cold; a Parquet table larger than a limit
"""
