"""How many annotations in the add-on say nothing: `python tests/build/test_types.py` counts them by room."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ADDON = Path(__file__).parents[2] / "addon"
MOST = 0.10


def annotations(tree: ast.AST) -> Iterator[ast.expr]:
    """Annotations of all arguments and returns of a module's functions."""
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = function.args
            arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            found = [each.annotation for each in arguments if each is not None] + [function.returns]
            yield from (each for each in found if each is not None)


def emptiness(annotation: ast.expr) -> float:
    """1 for `Any` alone or in a union, 1/2 for a container of it, such as ``dict[str, Any]``, else 0."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    if isinstance(annotation, ast.BinOp):
        return max(emptiness(annotation.left), emptiness(annotation.right))
    if isinstance(annotation, ast.Name) and annotation.id == "Any":
        return 1.0
    names = (each.id for each in ast.walk(annotation) if isinstance(each, ast.Name))
    return 0.5 if "Any" in names else 0.0


def shares() -> dict[str, tuple[int, float]]:
    """By room the number of annotations, and how many of them say nothing."""
    found: dict[str, list[float]] = defaultdict(list)
    for path in sorted(ADDON.rglob("*.py")):
        room = path.relative_to(ADDON).parts[0].removesuffix(".py")
        found[room] += map(emptiness, annotations(ast.parse(path.read_text("utf-8"))))
    return {room: (len(each), sum(each)) for room, each in found.items()}


def test_few_annotations_of_the_addon_are_any():
    counted = shares().values()
    share = sum(empty for _, empty in counted) / sum(number for number, _ in counted)
    assert share <= MOST, f"{share:.1%} of the annotations in addon are Any; python {__file__} lists rooms"


if __name__ == "__main__":
    for room, (number, empty) in sorted(shares().items(), key=lambda each: -each[1][1]):
        print(f"{room:16}{number:5}{empty / number if number else 0.0:7.1%}")
    total = [sum(column) for column in zip(*shares().values())]
    sys.stdout.write(f"{'all':16}{total[0]:5}{total[1] / total[0]:7.1%}\n")
