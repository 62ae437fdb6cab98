"""How `wengert.utils.cpp_extension` works. Read building.py first.

- paths: where headers, the library and what was built are.
- compiler: which compiler, and its command lines.
- cache: what has been built already, and how several processes share it.
- building: `load` and `load_inline`.
- packaging: setuptools.
"""
