"""Parts of the layers in `wengert.nn.modules`; `function_layer` makes those that only apply a function."""
