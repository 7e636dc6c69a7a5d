"""The commands of ``python -m pyomo_stochsqp``: one file each, with ``arguments`` and ``run``."""
