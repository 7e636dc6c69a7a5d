"""Models with expectations for every other Pyomo solver.

transformation   'stochsqp.extensive_form': distributions become finitely many scenarios
discretise       the scenarios that stand for a source
reduce           few scenarios for many
average          the sample average behind an E node
"""

from .transformation import ExtensiveForm

__all__ = ["ExtensiveForm"]
