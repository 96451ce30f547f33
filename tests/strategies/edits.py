"""Edits of drawn scenarios, computed once for all tests of an engine, and the laws of every environment's edits."""

import functools
import operator

import jax
import jax.numpy as jnp
import numpy as np

import jaxenv
import scenarios
from jaxenv.core import ScenarioBank, fields
from jaxenv.core.edits import NUMBERS, among

COUNT = 96
MANY = 20  # edits, one after the other


class Edited:
    """Drawn scenarios of all difficulties as NumPy arrays, and what edits make of them."""

    def __init__(self, env_id, edits, touches):
        """`touches`: name of an edit -> the fields that it may change."""
        (self.env, self.params), self.edits, self.touches = jaxenv.make(env_id), edits, touches
        self.keys = jax.random.split(jax.random.key(1), (MANY, COUNT))

    @functools.cached_property
    def before(self):
        generate = jax.jit(jax.vmap(self.env.generate))
        return jax.device_get(generate(jax.random.split(jax.random.key(0), COUNT), jnp.linspace(0, 1, COUNT)))

    @functools.cached_property
    def mutate(self):
        return jax.jit(jax.vmap(self.env.mutate))

    @functools.cached_property
    def once(self):
        return jax.device_get(self.mutate(self.keys[0], self.before))

    @functools.cached_property
    def many(self):
        return self.after_many(self.before)

    def after_many(self, stack):
        for keys in self.keys:
            stack = self.mutate(keys, stack)
        return jax.device_get(stack)

    @functools.cached_property
    def each(self):
        """Name -> ([COUNT] bool, whether the edit can be made; what it makes), all in one program."""

        def every(scenario, u):
            places = {name: edit.where(scenario) for name, edit in self.edits.items()}
            made = {name: edit.make(scenario, among(places[name], u[0]), u[1:]) for name, edit in self.edits.items()}
            return {name: (places[name].any(), made[name]) for name in self.edits}

        numbers = jax.random.uniform(jax.random.key(2), (COUNT, 1 + NUMBERS))
        return jax.device_get(jax.jit(jax.vmap(every))(jax.tree.map(jnp.asarray, self.before), numbers))

    def made(self, name):
        """(before, after) of the scenarios in which an edit can be made."""
        can, after = self.each[name]
        return rows(self.before, can), rows(after, can)

    def of_the_changed(self, name, field):
        """(before, after) of the only rows of a field ([N, n, ...], its name dotted) that an edit makes differ."""
        before, after = map(operator.attrgetter(field), self.made(name))
        differs = (before != after).reshape(*before.shape[:2], -1).any(2)
        assert (differs.sum(1) <= 1).all()
        return before[differs], after[differs]


def rows(stack, index):
    return jax.tree.map(lambda leaf: np.asarray(leaf)[index], stack)


def leaves(stack):
    """Dotted name -> array."""
    found = jax.tree_util.tree_leaves_with_path(stack)
    return {".".join(str(part).lstrip(".") for part in path): np.asarray(leaf) for path, leaf in found}


def changes(before, after):
    """Dotted name -> [N] bool, whether it differs."""
    others = leaves(after)
    return {name: (leaf != others[name]).reshape(len(leaf), -1).any(1) for name, leaf in leaves(before).items()}


def changed_fields(before, after):
    """The fields that differ anywhere."""
    return {name for name, differs in changes(before, after).items() if differs.any()}


# Laws ---------------------------------------------------------------------------------------------------------


def an_edit_is_a_scenario(edited):
    space = fields.space(edited.env.scenario_type, edited.env.sizes)
    contains = jax.jit(jax.vmap(space.contains))  # shapes and dtypes among it
    for stack in (edited.once, edited.many):
        assert contains(stack).all()


def an_edit_can_be_made_and_changes_something(edited):
    differs = np.stack(list(changes(edited.before, edited.once).values())).any(0)
    assert differs.mean() > 0.9
    assert all(can.any() for can, _ in edited.each.values())


def an_edit_touches_nothing_else(edited):
    wrong = {name: changed_fields(*edited.made(name)) - edited.touches[name] for name in edited.edits}
    assert {name: fields for name, fields in wrong.items() if fields} == {}


def every_edit_is_made(edited):
    """The one that the first number draws among those that can be made, which touches what it touches elsewhere."""
    numbers = jax.vmap(lambda key: jax.random.uniform(key, (2 + NUMBERS,)))(edited.keys[0])[:, 0]
    can, differs = {name: can for name, (can, _) in edited.each.items()}, changes(edited.before, edited.once)
    made = set()
    for row, number in enumerate(np.asarray(numbers)):
        names = [name for name in edited.edits if can[name][row]]
        made.add(name := names[int(number * np.float32(len(names)))])
        of_row = {field for field, each in differs.items() if each[row]}
        assert of_row <= changed_fields(*edited.made(name))
    assert made == set(edited.edits)


def the_same_key_makes_the_same_edit_alone(edited):
    alone = jax.jit(edited.env.mutate)(edited.keys[0, 7], rows(edited.before, 7))
    jax.tree.map(np.testing.assert_array_equal, jax.device_get(alone), rows(edited.once, 7))
    again = jax.device_get(edited.mutate(edited.keys[0], edited.before))
    jax.tree.map(np.testing.assert_array_equal, again, edited.once)


def an_edited_scenario_can_be_read_and_compiled_again(edited):
    """Drawn or of the library."""
    bank = edited.params.bank
    of_library = edited.after_many(jax.device_get(bank[np.arange(COUNT) % bank.size]))
    for stack, shared in ((edited.many, None), (of_library, bank.shared)):
        bank = ScenarioBank(rows(stack, slice(16)), shared)
        library = scenarios.decompile(edited.env.family, bank)
        jax.tree.map(np.testing.assert_array_equal, jax.device_get(library.bank.scenarios), bank.scenarios)


LAWS = (
    an_edit_is_a_scenario,
    an_edit_can_be_made_and_changes_something,
    an_edit_touches_nothing_else,
    every_edit_is_made,
    the_same_key_makes_the_same_edit_alone,
    an_edited_scenario_can_be_read_and_compiled_again,
)
