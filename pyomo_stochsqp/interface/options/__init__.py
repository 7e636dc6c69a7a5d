"""Options.

table            every option: name, symbol, default, range, meaning
values           what a value may be
config           Pyomo's configuration object
legacy_options   opt.options of the legacy interface; options written as text
page             the table as documentation
"""
