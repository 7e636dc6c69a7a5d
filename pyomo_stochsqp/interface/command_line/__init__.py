"""``python -m pyomo_stochsqp``: each command a file with ``arguments`` and ``run``.

main             the commands by name
demo, solve_model, inspect_model, list_options, show_version, doctor
model_file       models in Python files
json_report      results as a file for other programs
outputs          files and lines that a command writes
"""
