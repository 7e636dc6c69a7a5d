"""Where random numbers come from.

random_param    RandomParam: a component whose members are random
source          RandomSource: what is drawn as one row
columns         which column of which table or distribution a member reads
tables          finite data, one row per scenario; readers/, tables in files
probabilities   weights of finitely many scenarios
fixing          numbers that replace the random ones
glance          what a notebook shows of a RandomParam
other_numbers   other random numbers than the model's, for a while
scenario_set    explicit scenarios: blocks, lists, mappings; scenario_function, functions of them
numbering       all of a model's randomness, organised in sources and parts
"""

from .random_param import RandomParam, RandomParamData
from .source import RandomSource

__all__ = ["RandomParam", "RandomParamData", "RandomSource"]
