"""An interpreter of pickles that can build plain containers and call the few constructors it is given, nothing else.

`pickletools.genops` reads the instructions. Each is a method here; one that is missing is an error. No length in the
file is trusted (what is read lies in the bytes there are), the memo is a dictionary (so no index makes it large), and
keys are small, because the hash of nested tuples can be made to take for ever.
"""

from __future__ import annotations

import pickle
import pickletools
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

from wengert._C import device, dtype

_MARK = object()
_ATOMS = (str, int, float, complex, bytes, bool, type(None), dtype, device)


class Constructor:
    """What a pickle may call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def refuse(what: str) -> pickle.UnpicklingError:
    """Return the error for something that files may not do."""
    return pickle.UnpicklingError(f"Weights only load failed: {what}")


def is_key(value: Any) -> bool:
    """Return whether something may be a key of a dictionary or an element of a set."""
    return all(isinstance(part, _ATOMS) for part in (value if isinstance(value, tuple) else (value,)))


def is_attribute(target: Any, name: Any) -> bool:
    """Return whether an object may have an attribute of a name: one that hides nothing of its type."""
    return isinstance(name, str) and not hasattr(type(target), name)


def checked_key(key: Any) -> Any:
    """Return a key if it may be one."""
    if not is_key(key):
        raise refuse(f"a key is {type(key).__name__}; keys are strings, numbers, and tuples of these")
    return key


def set_attributes(target: Any, state: Any) -> None:
    """Give an object the attributes that a file names, none of which hides something of its type."""
    if not isinstance(state, dict):
        raise refuse(f"the attributes of a {type(target).__name__} are {type(state).__name__}")
    for name in state:
        if not is_attribute(target, name):
            raise refuse(f"an attribute of a {type(target).__name__} is named {name!r}")
    target.__dict__.update(state)


class Machine:
    """Runs one pickle.

    Parameters
    ----------
    find : callable
        ``find(module, name)`` is what a global name means: a `Constructor`, or a value.
    load_persistent : callable
        ``load_persistent(id)`` is what a persistent id refers to.
    """

    def __init__(self, find: Callable[[str, str], Any], load_persistent: Callable[[Any], Any]) -> None:
        self._find, self._load_persistent = find, load_persistent
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self, data: bytes) -> Any:
        """Return the object that a pickle describes."""
        try:
            for opcode, argument, _ in pickletools.genops(data):
                if opcode.name == "STOP":
                    (result,) = self._stack
                    return self._no_mark(result)
                instruction = getattr(self, f"_do_{opcode.name.lower()}", None)
                if instruction is not None:
                    instruction(argument)
                elif opcode.name in _PUSHED:
                    self._stack.append(argument)
                elif opcode.name not in ("PROTO", "FRAME"):
                    raise refuse(f"its pickle has the instruction {opcode.name}")
        except (pickle.UnpicklingError, RuntimeError, MemoryError):
            raise
        except Exception as error:
            raise refuse(f"its pickle is damaged ({type(error).__name__}: {error})") from error
        raise refuse("its pickle has no end")

    def _no_mark(self, value: Any) -> Any:
        if value is _MARK:
            raise refuse("its pickle takes a mark for a value")
        return value

    def _pop(self) -> Any:
        return self._no_mark(self._stack.pop())

    def _top(self, kind: type) -> Any:
        top = self._stack[-1]
        if type(top) is not kind and not (kind is dict and type(top) in (OrderedDict, Counter)):
            raise refuse(f"its pickle takes a {type(top).__name__} for a {kind.__name__}")
        return top

    def _pop_to_mark(self) -> list[Any]:
        place = len(self._stack) - 1
        while self._stack[place] is not _MARK:  # ends with an IndexError where there is none
            place -= 1
            if place < 0:
                raise refuse("its pickle has no mark")
        values = self._stack[place + 1 :]
        del self._stack[place:]
        return values

    # --- Containers
    def _do_mark(self, _: Any) -> None:
        self._stack.append(_MARK)

    def _do_empty_list(self, _: Any) -> None:
        self._stack.append([])

    def _do_empty_dict(self, _: Any) -> None:
        self._stack.append({})

    def _do_empty_set(self, _: Any) -> None:
        self._stack.append(set())

    def _do_empty_tuple(self, _: Any) -> None:
        self._stack.append(())

    def _do_tuple(self, _: Any) -> None:
        self._stack.append(tuple(self._pop_to_mark()))

    def _do_tuple1(self, _: Any) -> None:
        self._stack.append((self._pop(),))

    def _do_tuple2(self, _: Any) -> None:
        second, first = self._pop(), self._pop()
        self._stack.append((first, second))

    def _do_tuple3(self, _: Any) -> None:
        third, second, first = self._pop(), self._pop(), self._pop()
        self._stack.append((first, second, third))

    def _do_append(self, _: Any) -> None:
        value = self._pop()
        self._top(list).append(value)

    def _do_appends(self, _: Any) -> None:
        values = self._pop_to_mark()
        self._top(list).extend(values)

    def _do_additems(self, _: Any) -> None:
        values = self._pop_to_mark()
        self._top(set).update(map(checked_key, values))

    def _do_setitem(self, _: Any) -> None:
        value, key = self._pop(), self._pop()
        self._top(dict)[checked_key(key)] = value

    def _do_setitems(self, _: Any) -> None:
        values = self._pop_to_mark()
        target = self._top(dict)
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[checked_key(key)] = value

    # --- Constants
    def _do_none(self, _: Any) -> None:
        self._stack.append(None)

    def _do_newtrue(self, _: Any) -> None:
        self._stack.append(True)

    def _do_newfalse(self, _: Any) -> None:
        self._stack.append(False)

    def _do_bytearray8(self, argument: Any) -> None:
        self._stack.append(bytearray(argument))

    # --- The memo
    def _do_memoize(self, _: Any) -> None:
        self._do_binput(len(self._memo))

    def _do_binput(self, index: int) -> None:
        self._memo[index] = self._no_mark(self._stack[-1])

    _do_long_binput = _do_binput

    def _do_binget(self, index: int) -> None:
        self._stack.append(self._memo[index])

    _do_long_binget = _do_binget

    # --- What could run code
    def _do_global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._stack.append(self._find(module, name))

    def _do_stack_global(self, _: Any) -> None:
        name, module = self._pop(), self._pop()
        if not (isinstance(module, str) and isinstance(name, str)):
            raise refuse("its pickle names something by what is not a string")
        self._stack.append(self._find(module, name))

    def _do_reduce(self, _: Any) -> None:
        arguments, constructor = self._pop(), self._pop()
        if not isinstance(constructor, Constructor) or type(arguments) is not tuple:
            raise refuse(f"its pickle calls {type(constructor).__name__}")
        self._stack.append(constructor.function(*arguments))

    _do_newobj = _do_reduce

    def _do_build(self, _: Any) -> None:
        state = self._pop()
        target = self._stack[-1]
        if type(target) is not OrderedDict:
            raise refuse(f"its pickle sets attributes of {type(target).__name__}")
        set_attributes(target, state)

    def _do_binpersid(self, _: Any) -> None:
        self._stack.append(self._load_persistent(self._pop()))


_PUSHED = {
    "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8",
    "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BINSTRING", "SHORT_BINSTRING",
}  # fmt: skip
