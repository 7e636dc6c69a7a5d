r"""Endings, bounds and efficiency of default solves.

models, random_models   ordinary and random models with answers found another way
closed_forms            models with exact expectations
endings, random_check   how runs end, and whether that is true
coverage, efficiency    whether bounds hold; how much of a sample is in the answer
"""
