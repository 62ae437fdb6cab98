"""The rules: each file states the mathematics of one, for one parameter; `lbfgs.py` needs the line search beside it."""
