"""Mutations of formulas: does a test fail when the formula is wrong?

operators    the changes that are made, one at a time
runner       the tests of a group against one changed file
__main__     the command, and which files and tests belong together
"""
