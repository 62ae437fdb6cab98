"""What Tensor, a type of the core, gets from Python: methods, printing, files, and the names of its old types.

Start with `setup`, which attaches the methods at import; `autograd_methods` has ``x.backward()`` and hooks of tensors.
Copies stand in `wengert._copying` and overriding in `wengert._overrides`, which files on disk and the core name.
"""
