"""Hostile programs: whatever Python code does, the process survives.

Every case may end in any Python exception; what it may not do is to crash, to hang or to leave the library unusable.
Cases therefore run in other processes, in batches: `batch.py` runs the cases of one module (`calls`, `rows`,
`internals`, `integers`) for one seed and notes the name of each before it starts, so that `test_hostile.py` can name
the case that brought a batch down.

    pytest tests/hostile                             a few seeds, as in CI
    WENGERT_HOSTILE_SEEDS=200 pytest tests/hostile    for a night
    python -m tests.hostile.batch calls 17 400  one batch, in the foreground
    python -m tests.hostile.batch calls 17 400 --only 123    one case of it
    python -m tests.hostile.batch integers 1 4     the first of four shares of `integers`

`batched` asks for more: inside vmap a call (`callables`) raises or gives what a loop gives. `test_batched.py` runs
it in pytest's own process.
"""
