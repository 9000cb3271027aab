"""Names are found in a list that grows, and bodies come in the order that they had, parents first."""

import copy
import pickle

import numpy as np
import pytest

import physics as ph
from physics.model.builder import _parents_first


def test_a_builder_forgets_a_body_that_was_removed():
    builder = ph.ModelBuilder()
    builder.add_body("a", joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    lost = builder.add_body("b", "a", joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    builder.bodies.remove(lost)
    with pytest.raises(ph.ModelError, match="parent 'b' of body 'c' is missing"):
        builder.add_body("c", lost, joint=ph.joints.Fixed(), mass=1.0, inertia=np.eye(3))
    again = builder.add_body("b", "a", joint=ph.joints.Fixed(), mass=1.0, inertia=np.eye(3))
    assert builder.body_numbers() == {"a": 0, "b": 1} and builder.bodies[1] is again


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda builder: pickle.loads(pickle.dumps(builder))])
def test_a_copy_of_a_builder_goes_its_own_way(copied):
    builder = ph.ModelBuilder()
    builder.add_body("a", joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    builder.add_controller("hold", "a", stiffness=1.0)
    other = copied(builder)
    for each in (other, builder):
        each.add_body("b", "a", joint=ph.joints.Slider((0, 0, 1)), mass=1.0, inertia=np.eye(3))
        each.add_controller("more", "b", stiffness=1.0)
        with pytest.raises(ph.ModelError, match="has a controller already"):
            each.add_controller("again", "b", stiffness=1.0)
    assert other.build() == builder.build()


def in_rounds(entries):
    """The definition: rounds over the entries, each of which takes those whose parents have been taken."""
    ordered, done, waiting = [], {None}, list(entries)
    while waiting:
        later = []
        for entry in waiting:
            if entry["parent"] in done:
                ordered.append(entry)
                done.add(entry["name"])
            else:
                later.append(entry)
        waiting = later
    return ordered


@pytest.mark.parametrize("seed", range(10))
def test_children_are_moved_after_their_parents(seed):
    rng = np.random.default_rng(seed)
    rest = {"joint": {"type": "fixed"}, "mass": 1.0, "inertia": np.eye(3)}
    names = [f"b{k}" for k in range(40)]
    parents = [None] + [names[rng.integers(k)] if rng.random() < 0.9 else None for k in range(1, 40)]
    entries = [{"name": name, "parent": parent, **rest} for name, parent in zip(names, parents)]
    entries = [entries[k] for k in rng.permutation(40)]
    found = [entry["name"] for entry in _parents_first(entries)]
    assert found == [entry["name"] for entry in in_rounds(entries)]


def test_a_long_chain_of_bodies_is_read_backwards():
    rest = {"joint": {"type": "fixed"}, "mass": 1.0, "inertia": np.eye(3)}
    entries = [{"name": f"b{k}", "parent": f"b{k - 1}" if k else None, **rest} for k in range(5000)]
    assert _parents_first(entries[::-1]) == entries
    entries[0]["parent"] = "b4999"
    with pytest.raises(ph.FormatError, match="their own ancestors"):
        _parents_first(entries)
