"""Other people's models, and models for other people's tools.

from_creator   a function that builds one scenario becomes a model with scenario blocks
shared         its first stage: one variable for what every scenario calls its own
rows           rows that say the same in all scenarios become rows of the model
smps           SMPS files become a model with Recourse; smps_files reads them
to_creator     a model becomes a function that builds one scenario
"""

from .from_creator import from_scenario_creator
from .smps import from_smps
from .to_creator import ScenarioCreator, to_scenario_creator

__all__ = ["ScenarioCreator", "from_scenario_creator", "from_smps", "to_scenario_creator"]
