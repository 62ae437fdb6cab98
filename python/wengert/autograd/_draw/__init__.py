"""Pictures of the graph.

`collect` walks the graph and notes what a picture shows, `layout` places the nodes in layers, `svg` and `dot` write
them down, `page` makes a page of the SVG. Start with `drawing.draw`.
"""
