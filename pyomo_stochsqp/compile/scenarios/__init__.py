"""Explicit scenarios, collapsed to templates and data.

reader         one scenario as structure, numbers and affine supports
fast_reader    the same for the thousands that look alike
data_columns   what differs between scenarios becomes columns
collapse       classes of equal structure
row_classes    the rows of a source, or one class of them, as the code sees them
"""
