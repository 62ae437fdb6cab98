"""The entry of a backward pass: what ``loss.backward()`` and ``grad`` do before and after the engine, which is C++.

Start with `entry`, the two functions. `arguments` makes tuples of what users name: where to start, with which
cotangents, where to stop. `engine` is the one door to the core, and the debug log beside it.
"""
