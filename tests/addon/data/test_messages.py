"""The table of messages and the findings that use it: no code without a text, no text without its values."""

import ast
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from types import SimpleNamespace

import pytest

from ..said import culprit

#: which argument of a call is the code
PLACES = {"about": 1, "error": 2, "Finding": 0}


@pytest.fixture
def texts(part):
    return part("data.messages").TEXTS


@pytest.fixture
def diagnosis(part):
    return part("blender.physics_access").part("model.diagnosis")


def strings(tree: ast.AST) -> set[str]:
    return {
        each.value
        for each in ast.walk(tree)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def made(tree: ast.Module, texts: dict[str, str]) -> Iterator[tuple[set[str], set[str]]]:
    """Of each call that makes a finding its codes and the names of its values. A code in a variable is one of those in
    its function; one that is handed to that, one of the module's that no call has to itself.
    """
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    given = []
    for function in functions:
        for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            place = PLACES.get(name, len(call.args))
            if place < len(call.args) and isinstance(call.func, ast.Attribute):
                code = call.args[place]
                values = {each.arg for each in call.keywords} | ({"message"} if name == "error" else set())
                given.append((function, isinstance(code, ast.Name), strings(code), values))
    own = set().union(*(codes for _, _, codes, _ in given))
    for function, is_variable, codes, values in given:
        if is_variable:
            inside = strings(function) & texts.keys()
            codes = inside - own or strings(tree) & texts.keys() - own
        yield codes, values


def test_every_code_has_a_text_and_every_text_its_values(texts, condyle, diagnosis):
    used = {"error"}
    for path in sorted(Path(condyle.__file__).parent.rglob("*.py")):
        for codes, values in made(ast.parse(path.read_text("utf-8")), texts):
            if None in values:  # what physics finds, see below
                continue
            assert codes and codes <= texts.keys(), (path, codes)
            for code in codes:
                wanted = {name for _, name, _, _ in Formatter().parse(texts[code]) if name}
                assert wanted <= values, (path, code, wanted - values)
            used |= codes
    assert used | {*diagnosis.TEXTS, "coordinates-by-constraints"} == texts.keys()


@pytest.mark.parametrize("changes", [[], [["angle", "rad", 0.0, 0.5]]])
def test_all_that_physics_finds_has_a_text(part, diagnosis, changes):
    """With the values that its own text takes, and those that name coordinates."""
    read = SimpleNamespace(
        bodies=[SimpleNamespace(name="Arm", joint_name="Elbow")],
        muscles=[SimpleNamespace(name="Arm", session_uid=7)],
        model=SimpleNamespace(body_names=["Arm"]),
        handle_of=lambda index: part("data.references").Handle(7 + index),
    )
    for code, text in diagnosis.TEXTS.items():
        values = {name: 0.25 for _, name, _, _ in Formatter().parse(text) if name} | {"changes": changes}
        values |= dict.fromkeys({"body", "muscle", "contact", "joint"} & values.keys(), "Arm")
        values |= {"unit": "rad", "joint": "Arm"}
        values |= {"body": "Arm"} if "coordinate" in values else {}
        found = diagnosis.Finding(code, values)
        (told,) = part("baking.solver_statistics").warnings(read, SimpleNamespace(diagnosis=[found]))
        assert told.text and told.session_uid == (7 if {"body", "muscle"} & values.keys() else 0), code


def test_texts_are_short_enough_for_the_panel(part, texts):
    assert all(len(text) <= part("ui.checks.panels").LONGEST for text in texts.values())


def test_a_finding_says_its_text_with_its_values(part):
    findings = part("data.findings")
    found = findings.about(None, "deep-start", body="Stone", depth="5 mm", ground="Floor")
    assert all(value in found.text for value in found.values.values())
    problem = findings.error(None, ValueError("no mass"))
    assert problem.text == "no mass" and problem.is_error and culprit(part, problem) is None
