"""Custom Functions: derivatives that users write, as nodes of the graph.

Start with `function`: how a class becomes a node, and what runs when. `context` has what forward tells its node
through ``ctx``; `once_differentiable` wraps a backward that autograd cannot follow; `legacy` keeps the names of old
programs.
"""
