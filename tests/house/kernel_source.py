"""Reads kernels as text: where one calls NumPy on data that lies on a device."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

# What of an array, a variable or a queue is known on the host.
HOST = frozenset("shape ndim dtype size itemsize nbytes strides initialized closed".split())
# Methods after which an object of the host holds what it was given.
_STORES = frozenset("append extend insert add update setdefault".split())
_LOOPS = ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp
# Calls that give host values.
READS = frozenset("on_host len isinstance asnumpy".split())
_HOST_TYPE = re.compile(r"(int|bool|str|list|tuple|[\[\], .])+")


def numpy_on_data(fn: Callable[..., Any], data: set[str]) -> list[str]:
    """The calls `np.f(...)` of a function, and of those that it hands its data to, whose arguments
    hold some of `data` (names of parameters): "file:line np.f".

    So are calls by other names of such a function, and of others that it is handed to beside data.
    What runs only `if xp is np` does not count. Methods of classes are not read.
    """
    found: dict[str, None] = {}
    _Reader(found, set()).function(fn, frozenset(data))
    return list(found)


class _Reader:
    def __init__(self, found: dict[str, None], seen: set[Any]) -> None:
        self.found = found
        self.seen = seen  # functions with the parameters that hold data

    def function(self, fn: Callable[..., Any], data: frozenset[str]) -> None:
        fn = inspect.unwrap(fn)
        code = getattr(fn, "__code__", None)
        if code is None or (code, data) in self.seen or "minitf_runtime/ops" not in _file(fn):
            return
        self.seen.add((code, data))
        tree = ast.parse(textwrap.dedent(inspect.getsource(fn)))
        made = next(n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.Lambda)))
        body = made.body if isinstance(made.body, list) else [ast.Expr(made.body)]
        _Body(self, fn, set(data), code.co_firstlineno - 1).statements(body)


class _Body:
    """The statements of one function, in order; `data` are the names that hold data so far."""

    def __init__(self, reader: _Reader, fn: Any, data: set[str], offset: int) -> None:
        self.reader = reader
        self.fn = fn
        self.data = data
        self.offset = offset
        closure = inspect.getclosurevars(fn)
        self.known = {**fn.__globals__, **closure.nonlocals}
        self.local: dict[str, ast.FunctionDef | ast.Lambda] = {}
        self.inside: set[Any] = set()  # local functions that are being read

    def statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.If) and _asks_for_numpy(statement.test):
                self.statements(statement.orelse)
                continue
            if isinstance(statement, ast.If) and _asks_for_gpu(statement.test):
                self.statements(statement.body)
                if isinstance(statement.body[-1], (ast.Return, ast.Raise)):
                    return
                continue
            self.statement(statement)

    def statement(self, statement: ast.stmt) -> None:
        if isinstance(statement, ast.FunctionDef):
            self.local[statement.name] = statement
        for expression in _expressions(statement):
            self.expression(expression)
        for target, value in _assignments(statement):
            self.bind(target, value)
        again = isinstance(statement, (ast.For, ast.While))  # what the last turn left
        for _, block in list(ast.iter_fields(statement)) * (1 + again):
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                self.statements(block)

    def bind(self, target: ast.AST, value: ast.AST) -> None:
        """Names get data, each from its own part of the value where there are parts."""
        if isinstance(target, ast.Tuple):
            parts = _parts(value)
            if len(parts) == len(target.elts):
                for one, part in zip(target.elts, parts):
                    self.bind(one, part)
                return
        if self.holds_data(value):
            self.data |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        elif isinstance(target, ast.Name) and isinstance(value, ast.Lambda):
            self.local[target.id] = value
        elif isinstance(target, ast.Name) and self.meant(value) is not None:
            self.known[target.id] = self.meant(value)

    def meant(self, expression: ast.AST) -> Any:
        """The function or module that a name stands for, with its attributes."""
        if isinstance(expression, ast.Name):
            return self.known.get(expression.id)
        if isinstance(expression, ast.Attribute):
            return getattr(self.meant(expression.value), expression.attr, None)
        return None

    def is_numpy(self, expression: ast.AST) -> bool:
        """Whether it is NumPy, or something of it that can be called, or one of several."""
        if isinstance(expression, (ast.Name, ast.Attribute)):
            return _is_numpy(self.meant(expression))
        if isinstance(expression, ast.Call):
            return any(map(self.is_numpy, expression.args))
        return any(map(self.is_numpy, ast.iter_child_nodes(expression)))

    def expression(self, expression: ast.AST) -> None:
        if isinstance(expression, ast.IfExp) and _asks_for_numpy(expression.test):
            self.expression(expression.orelse)
            return
        if isinstance(expression, ast.BoolOp) and _asks_for_numpy(expression):
            return
        if isinstance(expression, _LOOPS):
            for loop in expression.generators:
                self.bind(loop.target, loop.iter)
        if isinstance(expression, ast.NamedExpr):
            self.bind(expression.target, expression.value)
        for child in ast.iter_child_nodes(expression):
            self.expression(child)
        if isinstance(expression, ast.Call):
            self.call(expression)

    def call(self, call: ast.Call) -> None:
        given = [*call.args, *(k.value for k in call.keywords)]
        if not any(map(self.holds_data, given)):
            return
        handed = [x for x in given if not self.holds_data(x)]
        if (
            self.is_numpy(call.func)
            or self.is_numpy(_root(call.func))
            or any(map(self.is_function_of_numpy, handed))
        ):
            line = self.offset + call.lineno
            self.reader.found[f"{_file(self.fn)}:{line} {ast.unparse(call.func)}"] = None
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr in _STORES:
            self.data |= {n.id for n in ast.walk(call.func.value) if isinstance(n, ast.Name)}
        other = self.meant(call.func)
        local = call.func if isinstance(call.func, ast.Lambda) else self.local.get(_name(call.func))
        if local is not None and local not in self.inside:
            self.inside.add(local)
            for parameter, value in zip(local.args.args, call.args):
                self.bind(ast.Name(parameter.arg), value)
            self.statements(local.body if isinstance(local.body, list) else [ast.Expr(local.body)])
            self.inside.remove(local)
        elif isinstance(call.func, ast.Name) and inspect.isfunction(other):
            self.reader.function(other, self.parameters(other, call))

    def is_function_of_numpy(self, expression: ast.AST) -> bool:
        return self.is_numpy(expression) and not isinstance(self.meant(expression), type)

    def parameters(self, other: Any, call: ast.Call) -> frozenset[str]:
        """The parameters of a called function that get data."""
        names = [p for p in inspect.signature(other).parameters if p]
        data = {name for name, value in zip(names, call.args) if self.holds_data(value)}
        data |= {k.arg for k in call.keywords if k.arg and self.holds_data(k.value)}
        return frozenset(data)

    def is_host_value(self, function: ast.expr) -> bool:
        """Whether a call gives host values: by its name, or as the function's types say."""
        returned = getattr(self.known.get(_name(function)), "__annotations__", {}).get("return", "")
        return _name(function) in READS or bool(_HOST_TYPE.fullmatch(str(returned)))

    def holds_data(self, expression: ast.AST) -> bool:
        if isinstance(expression, ast.Attribute) and expression.attr in HOST:
            return False
        if isinstance(expression, ast.Call) and self.is_host_value(expression.func):
            return False
        if isinstance(expression, ast.Name):
            return expression.id in self.data
        if isinstance(expression, (ast.ListComp, ast.GeneratorExp)):
            before = set(self.data)
            for loop in expression.generators:
                self.bind(loop.target, loop.iter)
            holds = self.holds_data(expression.elt)
            self.data = before
            return holds
        return any(map(self.holds_data, ast.iter_child_nodes(expression)))


def _root(function: ast.expr) -> ast.expr:
    while isinstance(function, ast.Attribute):
        function = function.value
    return function


def _is_numpy(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_is_numpy, value.values()))
    of = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", "")
    callable_of_it = isinstance(value, (np.ufunc, ModuleType)) or callable(value)
    return callable_of_it and (of or "").partition(".")[0] == "numpy"


def _file(fn: Any) -> str:
    return inspect.getsourcefile(fn) or ""


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", getattr(function, "id", ""))


def _parts(value: ast.AST) -> list[ast.expr]:
    if isinstance(value, ast.Tuple):
        return value.elts
    if isinstance(value, ast.Call) and _name(value.func) == "zip":
        return value.args
    if isinstance(value, ast.Call) and _name(value.func) == "enumerate":
        return [ast.Constant(0), value.args[0]]
    return []


def _asks(test: ast.AST, is_numpy: type, joined: type) -> bool:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, joined):
        return _asks(test.values[0], is_numpy, joined)
    return isinstance(test, ast.Compare) and (
        ast.unparse(test.left) == "xp"
        and isinstance(test.ops[0], is_numpy)
        and ast.unparse(test.comparators[0]) == "np"
    )


def _asks_for_numpy(test: ast.AST) -> bool:
    """`xp is np`, perhaps `and` more."""
    return _asks(test, ast.Is, ast.And)


def _asks_for_gpu(test: ast.AST) -> bool:
    """`xp is not np`, perhaps `or` more: not so is on the CPU."""
    return _asks(test, ast.IsNot, ast.Or)


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr


def _assignments(statement: ast.stmt) -> Iterator[tuple[ast.AST, ast.AST]]:
    """What is bound to which names."""
    if isinstance(statement, ast.Assign):
        yield from ((target, statement.value) for target in statement.targets)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
        yield statement.target, statement.value
    elif isinstance(statement, ast.For):
        yield statement.target, statement.iter
    elif isinstance(statement, ast.With):
        for item in statement.items:
            if item.optional_vars is not None:
                yield item.optional_vars, item.context_expr
