"""Products with Jacobians and Hessians, and the matrices themselves.

All functions call the transforms of `wengert.func` on the user's function (`_run.py`), which gets copies of the inputs
and finds no transform around it. Results are detached unless ``create_graph`` is set; strict mode (`_strict.py`) looks
for missing gradients first, which are zeros otherwise.
"""
