"""Checkpoints: a function whose saved tensors are not kept but computed again when backward asks for them.

Two variants. The non-reentrant one (`frame`) hooks into saved tensors: while the function runs, each tensor that a node
would save leaves a placeholder, and the first one that backward unpacks runs the function again, recording what it
saves. The reentrant one (`reentrant`) is a custom Function whose backward runs the function again and calls
``backward`` inside. Start with `api`, then `frame`; `determinism` says how two runs are compared, `selective` how
chosen results are kept after all.
"""
