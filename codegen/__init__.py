"""The generator: one row of ops/*.yaml -> every text that an operation needs.

Read in this order: `schema` (a row's signature), `table` (a row, checked), `formula` (a derivative as mathematics ->
C++ over scalars or over tensors), `elementwise` (loops), `saved` and `node` (the recorded operation), `operation` (the
function that records it), `binding` and `stubs` (Python). `__main__` writes the files. All of it is pure functions from
rows to text; no operation's name stands in here. What the texts look like is in templates/, which read as C++.
"""
