"""The profiler: what ran when, for how long, and with how much memory.

The core writes down events while a profile is active (src/python/watch/profile.h); nothing is measured, and nothing
costs, while none is. `collect` turns what it wrote into `FunctionEvent` objects, `events` has those and the averages,
`lists` what can be asked of many, `table` and `export` how they are shown. Start with `profile`.
"""
