"""Modes: what a program switches for a block, for a function, or from now on.

A mode is a flag of the core; here are the objects that set it and set it back. Start with `context`, which has what
all modes can do. `grad_mode` decides what is recorded, `engine` how a pass runs and how views record; `anomaly`,
`debug` and `strict_singular` find faults, and their flags belong to the process.
"""
