"""Mistakes: mypy and pyright must report each line with the comment `wrong`, and no other (check.py)."""

import wengert as wg
import wengert.nn.functional as F  # noqa: N812

x = wg.tensor([1.0, 2.0])

wg.no_such_function(x)  # wrong
wg.linalg.no_such_function(x)  # wrong
F.no_such_function(x)  # wrong
wg.nn.Lineal(2, 3)  # wrong
wg.nn.Linear(2)  # wrong
wg.nn.ELU(beta=3)  # wrong
wg.nn.MaxPool2d()  # wrong
wg.nn.init.xavier_(x)  # wrong
wg.optim.SparseSGD([x])  # wrong
x.no_such_method()  # wrong
x.requires_gard_()  # wrong
x.shape.numell()  # wrong
wg.tensor(1, dtype=wg.float65)  # wrong
x + None  # wrong
x @ "a"  # wrong
x["a"]  # wrong
x.reshape("a")  # wrong
x.sum(dim="rows")  # wrong
x.max(dim=0).vlaues.sum()  # wrong
x.grad.sum()  # wrong
x.grad_fn.name()  # wrong
wg.zeros("2")  # wrong
wg.zeros(2, dtyp=wg.float64)  # wrong
wg.cat(x, 0, 1)  # wrong
x.shape = (2,)  # wrong
