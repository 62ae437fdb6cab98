"""Looking at the graph, naming places in it, and deciding how it keeps tensors.

Start with `node` for what a node shows, `edges` for the places that have names, and `saved_tensors` for what is held.
"""
