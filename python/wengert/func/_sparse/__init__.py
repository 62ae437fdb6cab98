"""Sparse Jacobians and Hessians: detect where derivatives are, color, multiply, and scatter.

1. *Pattern* (`_pattern.py`): the function runs once, and its recorded graph is walked backwards with a sparse Boolean
   matrix for each node: which elements of the outputs depend on which elements of the node's result. Each node
   multiplies it with its own pattern (`_local.py`), which follows from the table: elementwise rows couple equal
   positions, rows that mix along dimensions couple along those, rows that contract couple as their letters say, linear
   rows are probed (`_probing.py`). Whatever none of this explains couples everything with everything. So the pattern
   holds for all values, as long as Python's control flow and integer indices stay the same; it may be too large.
   Hessians need nothing else: they are Jacobians of the gradient, whose computation is a recorded graph as well.
2. *Coloring* (`_coloring.py`, `_lattice.py`): columns that share no row may share a product with the Jacobian. For
   Hessians the two triangles help each other. Stencils on grids get periodic colorings, which are optimal in practice.
3. *Products* (`_plan.py`): one forward or backward pass per color, and every entry is read off one of them.

Read `_plan.py` first.

The mathematics: A. H. Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian? Graph coloring for computing
derivatives", SIAM Review 47 (2005).
"""
