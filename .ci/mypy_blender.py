"""A plugin for mypy: what the add-on declares in ways that only Blender, or only the running add-on, understands.

1. ``mass: FloatProperty(...)``: Blender reads properties from annotations that are calls. The attribute gets the type
   of its value (`VALUES`).
2. ``item.condyle``: the add-on attaches its data to Blender's classes (`ROOTS`).
3. ``physics()`` and ``part("worker.client")`` return modules of the package physics, whichever copy is loaded.
4. Gaps of the stubs of bpy: collections that do not say what they contain, values that no stub returns, enumerations
   that take their literals only, attributes that only some of the subclasses have.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from mypy.checker import TypeChecker
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import (
    ARG_POS,
    MDEF,
    Argument,
    AssignmentStmt,
    MypyFile,
    StrExpr,
    SymbolTableNode,
    TypeInfo,
    Var,
)
from mypy.plugin import (
    AttributeContext,
    CheckerPluginInterface,
    ClassDefContext,
    FunctionContext,
    FunctionSigContext,
    MethodContext,
    MethodSigContext,
    Plugin,
)
from mypy.plugins.common import add_method_to_class
from mypy.types import (
    AnyType,
    FunctionLike,
    Instance,
    LiteralType,
    NoneType,
    RawExpressionType,
    Type,
    TypeOfAny,
    UnboundType,
    UnionType,
    flatten_nested_unions,
    get_proper_type,
)

ACCESS = "addon.blender.physics_access"
#: attributes that the add-on gives to Blender's classes, and their classes
ROOTS = {
    "bpy.types.Scene.condyle": "addon.data.roots.SceneData",
    "bpy.types.Object.condyle": "addon.data.roots.ObjectData",
    "bpy.types.PoseBone.condyle": "addon.data.roots.BoneData",
    "bpy.types.WindowManager.condyle_live": "addon.data.live.LiveSettings",
    "addon.data.references.Body.data": "addon.data.roots.ObjectData",  # or of a bone, which has less
}
#: in place of which Blender takes arrays; and its own class by another name
CONVERTED = ("mathutils.Matrix", "mathutils.Vector", "typing.Sequence", "_bpy_types.Object")
ARRAY, COLLECTION = "bpy.types.bpy_prop_array", "bpy.types.bpy_prop_collection_idprop"
#: functions, methods and attributes of which a stub says nothing, or too little to be of use
ANY = {
    "driver_add",
    "find_nearest",
    "gpu.state.viewport_get",
    "id_properties_ui",
    "load",
    "operator",
    "FromObject",
}
ANY_DATA = {"bpy.types.Object.data", "bpy.types.bpy_struct.id_data"}
#: base classes of which an element may have the attributes of any subclass
OPEN = (
    "BlenderRNA",
    "Constraint",
    "FModifier",
    "Gizmo",
    "ID",
    "Modifier",
    "Node",
    "NodeSocket",
    "Property",
    "Space",
)
#: what attributes hold, by the functions that declare them (Blender's, and those of `properties`)
VALUES = {
    "builtins.bool": "BoolProperty flag",
    "builtins.int": "IntProperty integer",
    "builtins.float": "FloatProperty number length angle factor seconds angle_view length_view selected_view",
    "builtins.str": "StringProperty text EnumProperty choice own_source",
}
#: the same for arrays of Blender's
ARRAYS = {
    "builtins.bool": "BoolVectorProperty flags",
    "builtins.int": "IntVectorProperty integers",
    "builtins.float": "FloatVectorProperty vector lengths angles small_inertia_view",
}


class BlenderPlugin(Plugin):
    """See the module's docstring."""

    def get_additional_deps(self, file: MypyFile) -> list[tuple[int, str, int]]:
        if not file.fullname.startswith("addon."):
            return []
        text = Path(file.path).read_text(encoding="utf-8")
        names = {f"physics.{name}" for name in re.findall(r'\bpart\("([\w.]+)"\)', text)}
        names |= {"physics"} if "physics()" in text else set()
        names |= {"addon.data.roots"} if re.search(r"\.condyle|references", text) else set()
        return [(10, name, -1) for name in sorted(names)]

    def get_customize_class_mro_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        if fullname.startswith("addon."):
            return _give_values
        if fullname == COLLECTION:
            return _iterable
        if fullname.removeprefix("bpy.types.") in OPEN:
            return _opened
        if fullname == "bpy.types.bpy_struct" or fullname.startswith("mathutils."):
            return _like_sequence
        names = [name for name in ROOTS if name.startswith(f"{fullname}.")]
        return _attach(names[0]) if names else None

    def get_attribute_hook(self, fullname: str) -> Callable[[AttributeContext], Type] | None:
        if fullname in ROOTS:
            return _root(ROOTS[fullname])
        if fullname in ANY_DATA:
            return _any
        return _attribute if fullname.startswith("bpy.types.") else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        if fullname in ANY:
            return _any
        return _module if fullname in (f"{ACCESS}.physics", f"{ACCESS}.part") else None

    def get_method_hook(self, fullname: str) -> Callable[[MethodContext], Type] | None:
        of_blender, name = fullname.startswith(("bpy.types.", "mathutils.")), fullname.rpartition(".")[2]
        if of_blender and name == "get":
            return _element
        return _any if of_blender and name in ANY else None

    def get_function_signature_hook(
        self, fullname: str
    ) -> Callable[[FunctionSigContext], FunctionLike] | None:
        return _signature if fullname.startswith(("bpy.", "mathutils.")) else None

    def get_method_signature_hook(self, fullname: str) -> Callable[[MethodSigContext], FunctionLike] | None:
        return _signature if fullname.startswith(("bpy.types.", "mathutils.bvhtree.")) else None


@cache
def _annotations(path: str) -> tuple[dict[tuple[str, int], ast.Call], frozenset[str]]:
    """Calls in annotations of a file's classes by attribute and line; and the names that it imports from bpy.types."""
    tree, found, imported = ast.parse(Path(path).read_text(encoding="utf-8")), {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Call):
            found[ast.unparse(node.target), node.lineno] = node.annotation
        elif isinstance(node, ast.ImportFrom) and node.module == "bpy.types":
            imported |= {each.name for each in node.names}
    return found, frozenset(imported)


def _give_values(context: ClassDefContext) -> None:
    """Annotations that are calls become types, before mypy looks at the body of a class."""
    for statement in context.cls.defs.body:
        if isinstance(statement, AssignmentStmt) and isinstance(statement.unanalyzed_type, RawExpressionType):
            calls, imported = _annotations(context.api.modules[context.cls.info.module_name].path)
            call = calls.get((getattr(statement.lvalues[0], "name", ""), statement.line))
            made = call and _value(context, call, imported)
            if made is not None:
                statement.type = statement.unanalyzed_type = made


def _value(context: ClassDefContext, call: ast.Call, imported: frozenset[str]) -> Type | None:
    options = {each.arg: ast.unparse(each.value) for each in call.keywords}
    name = ast.unparse(call.func).rpartition(".")[2]
    if name in ("PointerProperty", "pointer", "CollectionProperty", "collection"):
        member = UnboundType(options["type"], line=call.lineno, column=call.col_offset)
        if name in ("CollectionProperty", "collection"):
            known = context.api.anal_type(member)
            return None if known is None else _instance(context, COLLECTION, [known])
        is_data = options["type"].startswith("bpy.types.") or options["type"] in imported
        return UnionType([member, UnboundType("None")]) if is_data else member
    for kind, makers in ARRAYS.items():
        if name in makers.split():
            return _instance(context, ARRAY, [context.api.named_type(kind)])
    kind = next((kind for kind, makers in VALUES.items() if name in makers.split()), None)
    if kind is None:
        return None
    made = context.api.named_type(kind)
    return _instance(context, "builtins.set", [made]) if "ENUM_FLAG" in options.get("options", "") else made


def _instance(context: ClassDefContext, fullname: str, arguments: list[Type]) -> Type | None:
    found = context.api.lookup_fully_qualified_or_none(fullname)
    return Instance(found.node, arguments) if found is not None and isinstance(found.node, TypeInfo) else None


def _iterable(context: ClassDefContext) -> None:
    """The stub's base class of the collections that an add-on declares does not say what it contains."""
    base = context.cls.info.bases[0]
    context.cls.info.bases[0] = base.copy_modified(args=list(context.cls.type_vars))


def _opened(context: ClassDefContext) -> None:
    anything = AnyType(TypeOfAny.special_form)
    _add(context, "__getattr__", [context.api.named_type("builtins.str")], anything)
    _add(context, "__setattr__", [context.api.named_type("builtins.str"), anything], NoneType())


def _like_sequence(context: ClassDefContext) -> None:
    """Names of custom properties are in what has them; vectors give their numbers one by one."""
    number = context.api.named_type("builtins.float")
    if context.cls.fullname == "bpy.types.bpy_struct":
        _add(
            context,
            "__contains__",
            [context.api.named_type("builtins.str")],
            context.api.named_type("builtins.bool"),
        )
    elif "__iter__" not in context.cls.info.names and "__getitem__" in context.cls.info.names:
        _add(context, "__iter__", [], context.api.named_type("typing.Iterator", [number]))


def _add(context: ClassDefContext, name: str, kinds: list[Type], result: Type) -> None:
    arguments = [Argument(Var(f"_{k}", kind), kind, None, ARG_POS) for k, kind in enumerate(kinds)]
    add_method_to_class(context.api, context.cls, name, arguments, result)


def _any(context: AttributeContext | FunctionContext | MethodContext) -> Type:
    return AnyType(TypeOfAny.special_form)


def _element(context: MethodContext) -> Type:
    """What `get` of a collection returns, if there is no other default than None."""
    kind = get_proper_type(context.type)
    for base in kind.type.mro if isinstance(kind, Instance) and len(context.args[-1]) == 0 else ():
        if base.fullname == "bpy.types.bpy_prop_collection":
            return map_instance_to_supertype(kind, base).args[0]
    return context.default_return_type


def _signature(context: FunctionSigContext | MethodSigContext) -> FunctionLike:
    signature = context.default_signature
    return signature.copy_modified(arg_types=[_relaxed(kind, context.api) for kind in signature.arg_types])


def _attribute(context: AttributeContext) -> Type:
    kind = _relaxed(context.default_attr_type, context.api)
    return kind if context.is_lvalue or not isinstance(kind, AnyType) else context.default_attr_type


def _relaxed(kind: Type, api: CheckerPluginInterface) -> Type:
    """Any str, where a stub wants one of certain literals, or a set of them; any array, where it wants a vector."""
    proper = get_proper_type(kind)
    for each in map(get_proper_type, flatten_nested_unions([proper])):
        if isinstance(each, LiteralType):
            return api.named_generic_type("builtins.str", [])
        if isinstance(each, Instance) and each.type.fullname in CONVERTED:
            return AnyType(TypeOfAny.special_form)
    if isinstance(proper, Instance) and proper.type.fullname == "builtins.set":
        return proper.copy_modified(args=[_relaxed(each, api) for each in proper.args])
    return kind


def _attach(fullname: str) -> Callable[[ClassDefContext], None]:
    def hook(context: ClassDefContext) -> None:
        info, attribute = context.cls.info, Var(fullname.rpartition(".")[2], AnyType(TypeOfAny.special_form))
        attribute.info, attribute._fullname = info, fullname
        info.names[attribute.name] = SymbolTableNode(MDEF, attribute)

    return hook


def _root(fullname: str) -> Callable[[AttributeContext], Type]:
    """The class of a root is looked up where it is used: the stubs of bpy are read before the add-on."""

    def hook(context: AttributeContext) -> Type:
        module, _, name = fullname.rpartition(".")
        roots = context.api.modules.get(module) if isinstance(context.api, TypeChecker) else None
        found = roots.names.get(name) if roots is not None else None
        known = found is not None and isinstance(found.node, TypeInfo)
        return Instance(found.node, []) if known else context.default_attr_type

    return hook


def _module(context: FunctionContext) -> Type:
    if not isinstance(context.api, TypeChecker):
        return context.default_return_type
    argument = context.args[0][0] if context.args and context.args[0] else None
    if argument is not None and not isinstance(argument, StrExpr):
        return context.default_return_type
    name = "physics" if argument is None else f"physics.{argument.value}"
    if name not in context.api.modules:
        context.api.fail(f"There is no module {name}", context.context)
        return context.default_return_type
    checker = context.api.expr_checker
    made = checker.module_type(context.api.modules[name])
    for each, symbol in context.api.modules[name].names.items():
        if isinstance(symbol.node, MypyFile) and made.extra_attrs is not None:
            made.extra_attrs.attrs[each] = checker.module_type(symbol.node)
    return made


def plugin(version: str) -> type[Plugin]:
    """What mypy calls."""
    return BlenderPlugin
