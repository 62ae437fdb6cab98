"""Looking at the graph, naming places in it, and deciding how it keeps tensors.

Start with `node` for what a node shows, and `saved_tensors` for what it holds.
"""
