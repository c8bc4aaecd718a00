"""Which definitions of the physics rooms the code of the verbs reaches, read from the source.

A function is reached when the code of a verb names it, directly or through other reached code. A
name in a string reaches nothing.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PHYSICS = {
    *("economics", "energy", "fabric", "facility", "demand", "reliability", "training", "serving"),
    "llm",
}
VERBS = {"cli", "answers", "study", "report", "planning", "inputs"}

Name = tuple[str, str]
"""Module, and name of a definition in it; a method is `Class.method`."""
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
SCOPE = FUNCTION | ast.Lambda | COMPREHENSION


@dataclass
class Module:
    """A module's definitions, the statements that run at import, and what its imports stand for."""

    name: str
    definitions: dict[str, ast.stmt] = field(default_factory=dict)
    statements: list[ast.AST] = field(default_factory=list)
    imports: dict[str, tuple[str, ...]] = field(default_factory=dict)
    chains: set[tuple[str, ...]] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)

    @property
    def room(self) -> str:
        return (*self.name.split("."), "")[1]


def children(node: ast.AST) -> list[ast.AST]:
    """Return the child nodes but for loads and stores: twice as fast as the library's own."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [v for v in value if isinstance(v, ast.AST)]
        elif isinstance(value, ast.AST) and name != "ctx":
            found.append(value)
    return found


def parsed(name: str, text: str) -> Module:
    """Read a module; imports inside functions count as the module's own."""
    module, tree = Module(name), ast.parse(text)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        waiting += children(node)
        if isinstance(node, ast.Attribute):
            module.attributes.add(node.attr)
            module.chains.add(chain(node))
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                module.imports[alias.asname or alias.name] = (*node.module.split("."), alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                path = tuple(alias.name.split("."))
                module.imports[alias.asname or path[0]] = path if alias.asname else path[:1]
    for statement in tree.body:
        if isinstance(statement, FUNCTION | ast.ClassDef):
            module.definitions[statement.name] = statement
        else:
            module.statements.append(statement)
    return module


def package() -> dict[str, Module]:
    """Parse the rooms of verbs and of physics; the collector of garbage would double the time."""
    found = {}
    gc.disable()
    try:
        for room in sorted(VERBS | PHYSICS):
            for file in sorted((ROOT / "dcplan" / room).rglob("*.py")):
                path = ".".join(file.relative_to(ROOT).with_suffix("").parts)
                name = path.removesuffix(".__init__")
                found[name] = parsed(name, file.read_text(encoding="utf-8"))
    finally:
        gc.enable()
    return found


def chain(node: ast.expr) -> tuple[str, ...]:
    """Return the names of `a.b.c`; empty where it does not start with a name."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return (node.id, *names) if isinstance(node, ast.Name) else ()


def bound(scope: ast.AST) -> set[str]:
    """Return the names that a function binds: they hide those of the module."""
    found: set[str] = set()
    waiting = list(children(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, FUNCTION | ast.ClassDef):
            found.add(node.name)
        if not isinstance(node, SCOPE | ast.ClassDef):
            waiting += children(node)
    return found


def outside(scope: ast.AST) -> list[ast.expr]:
    """Return decorators and defaults: they run before the names of the function are bound."""
    arguments = getattr(scope, "args", None)
    defaults = [*arguments.defaults, *arguments.kw_defaults] if arguments else []
    return [*getattr(scope, "decorator_list", []), *filter(None, defaults)]


def free(pieces: Iterable[ast.AST]) -> tuple[set[tuple[str, ...]], set[str]]:
    """Return dotted names that pieces of code use and do not bind, and attributes of anything."""
    chains: set[tuple[str, ...]] = set()
    attributes: set[str] = set()
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(piece, frozenset()) for piece in pieces]
    while waiting:
        node, hidden = waiting.pop()
        if isinstance(node, SCOPE):
            waiting += [(piece, hidden) for piece in outside(node)]
            hidden |= bound(node)
        if isinstance(node, ast.Name | ast.Attribute):
            names = chain(node)
            if names and names[0] not in hidden:
                chains.add(names)
        if isinstance(node, ast.Attribute):
            attributes.add(node.attr)
        waiting += [(child, hidden) for child in children(node)]
    return chains, attributes


def target(modules: Mapping[str, Module], path: tuple[str, ...]) -> Name | None:
    """Find the definition that a dotted path stands for, through modules that pass it on."""
    for cut in range(len(path) - 1, 0, -1):
        module = modules.get(".".join(path[:cut]))
        if module is None:
            continue
        if path[cut] in module.definitions:
            return module.name, path[cut]
        passed_on = module.imports.get(path[cut])
        return target(modules, (*passed_on, *path[cut + 1 :])) if passed_on else None
    return None


def methods(node: ast.stmt) -> dict[str, ast.stmt]:
    """Return the public methods and properties of a class; its other code runs with the class."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    return {n.name: n for n in body if isinstance(n, FUNCTION) and not n.name.startswith("_")}


class Reach:
    """What the code of the verbs reaches.

    A method is reached where reached code reads an attribute of its name.
    """

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self.modules = modules
        self.names: set[Name] = set()
        self._attributes: set[str] = set()
        self._run: set[str] = set()
        self._asleep: dict[Name, ast.stmt] = {}
        for module in modules.values():
            if module.room in VERBS:
                self._attributes |= module.attributes
                self._follow(module, module.chains | {(name,) for name in module.imports})
        self.add(())

    def add(self, names: Iterable[Name]) -> None:
        """Reach further names, and all that they need."""
        for name in names:
            self._add(name)
        while awake := [n for n in self._asleep if n[1].split(".")[1] in self._attributes]:
            for name in awake:
                self.names.add(name)
                self._read(self.modules[name[0]], [self._asleep.pop(name)])

    def _follow(self, module: Module, chains: Iterable[tuple[str, ...]]) -> None:
        for names in filter(None, chains):
            found: Name | None = (module.name, names[0])
            if names[0] in module.imports:
                found = target(self.modules, (*module.imports[names[0]], *names[1:]))
            if found and self.modules[found[0]].room in PHYSICS:
                self._add(found)

    def _add(self, name: Name) -> None:
        module = self.modules[name[0]]
        if name in self.names or name[1] not in module.definitions:
            return
        self.names.add(name)
        node = module.definitions[name[1]]
        apart = methods(node)
        self._asleep |= {(name[0], f"{name[1]}.{m}"): method for m, method in apart.items()}
        rest = [n for n in children(node) if n not in apart.values()]
        self._read(module, rest if apart else [node])
        if name[0] not in self._run:
            self._run.add(name[0])
            self._read(module, module.statements)

    def _read(self, module: Module, pieces: Iterable[ast.AST]) -> None:
        chains, attributes = free(pieces)
        self._attributes |= attributes
        self._follow(module, chains)


def of_physics(modules: Mapping[str, Module]) -> Iterator[Name]:
    """Yield functions, classes and public methods of the physics rooms."""
    for module in modules.values():
        if module.room in PHYSICS:
            for name, node in module.definitions.items():
                yield module.name, name
                yield from ((module.name, f"{name}.{m}") for m in methods(node))


def title(name: Name) -> str:
    """Write a name as the register does: room, module, function."""
    return f"{name[0].removeprefix('dcplan.')}.{name[1]}"


def faults(modules: Mapping[str, Module], awaited: Mapping[str, str]) -> list[str]:
    """Return what is wrong with the reach of physics functions, one line each."""
    known = {title(name): name for name in of_physics(modules)}
    reach = Reach(modules)
    reached = {title(name) for name in reach.names}
    reach.add(known[name] for name in awaited if name in known)
    alive = {title(name) for name in reach.names}
    found = [f"{name} is awaited, but it does not exist" for name in awaited if name not in known]
    found += [f"{name} is awaited, but a verb reaches it" for name in awaited if name in reached]
    for text, name in known.items():
        node = modules[name[0]].definitions.get(name[1])
        if isinstance(node, FUNCTION) and not name[1].startswith("_"):
            if text not in reached and text not in awaited:
                found.append(f"no verb reaches the function {text}: delete it")
        elif text not in alive:
            found.append(f"nothing that is used needs {text}: delete it")
    return found
