"""Operations that Python programs add: what `wengert.library` makes public.

An operation has a `schema` (its arguments and results, in PyTorch's notation; `inference` finds it in annotations) and
rules: a kernel for each type of device, what its results look like (`fake`), its derivative, its vmap rule. `operation`
holds them together and is called; it goes the way of an operation of the table: overriding types first, then batches
and recording, both by the custom Function that `derivative` makes of the rules, and below them dispatch modes or the
kernel (`_C._run_operation`). `fake` is what runs on device meta. `definition` and `registration` are the two ways to
add one, by decorator and by name; `checks` tries one out.
"""
