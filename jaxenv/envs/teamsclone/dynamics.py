"""The step of TeamsClone as pure phases: the agents' actions, then the world, then the clock."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from jaxenv.envs.teamsclone import actions, messages, world
from jaxenv.envs.teamsclone.actions import Catalogue, Move
from jaxenv.envs.teamsclone.types import MAX_STEPS, MEMORY_OF_ACTS, MEMORY_OF_SENDS, Draws, Scenario, State, each_agent
from jaxenv.envs.teamsclone.world import Post
from jaxenv.lowering.lookup import read
from jaxenv.lowering.materialize import materialize

MAX_UNREAD = 255
MAX_RUN = 127
QUIET = 10  # steps without a message after which one engages the channel
PAUSE = 20  # steps between two entries of a channel that pay
TIMELY = 2  # greatest age of a timely answer
SPAM_RUN = 2  # messages of agents in a row, before one more is spam
SPAM_SENDS = 3  # own messages in nine steps, before one more is spam
BUSY_ACTS = 2  # acts in five steps that show presence
AWAY_AFTER = 6  # steps since the last act


class ActionOutcome(struct.PyTreeNode):
    """The outcome of one agent's action, given the state before the step."""

    move: Move
    answers: jax.Array  # [] bool, a mention
    target: jax.Array  # [] int32, flat index of the mention, -1 for none
    age: jax.Array  # [] int32, of the mention; 1 in the step right after it, and at step 0 for an initial one
    named: jax.Array  # [] int32, whom the mention names
    is_spam: jax.Array  # [] bool
    engages: jax.Array  # [] bool, a channel that was quiet
    enters: jax.Array  # [] bool, a channel whose entry pays
    was_active: jax.Array  # [] bool, by the acts before this one
    steps_left: jax.Array  # [] int32, of the time limit when the quota ends the episode, 0 if it does not (yet)


def transition(
    catalogue: Catalogue, state: State, scenario: Scenario, action: jax.Array, draws: Draws
) -> tuple[State, ActionOutcome]:
    """One step: the state after it and the outcomes ([N]) of the actions ([N] int32)."""
    outcomes = each_agent(
        lambda agent, view, index: evaluate_action(catalogue, view, scenario, agent, index), state, action
    )
    outcomes = resolve(outcomes)
    before = state
    state = apply_actions(state, outcomes)
    state = state.replace(presence=world.next_presence(state.presence, scenario, draws))
    post = world.post(before, state, scenario, draws)
    state = post_messages(state, scenario, outcomes, post)
    return advance_clock(state, outcomes), outcomes


def evaluate_action(
    catalogue: Catalogue, state: State, scenario: Scenario, agent: jax.Array, action: jax.Array
) -> ActionOutcome:
    """The outcome of an agent's action if it acted alone, in the state that `types.each_agent` passes."""
    move, rings = actions.decode(catalogue, state, scenario, agent, action), state.messages
    columns = tuple(map(messages.by_channel, (rings.words, rings.posted)))
    columns, count, run, last_post, news, paid = read(
        (columns, rings.count, state.run, state.last_post, state.news, state.paid), move.channel
    )
    words = columns[0]
    window = words.shape[0]
    waiting = messages.is_pending(words) & messages.is_seen(words, agent)
    from_oldest = numbers(window) - count % window
    from_oldest = jnp.where(from_oldest < 0, from_oldest + window, from_oldest)
    rank = jnp.min(jnp.where(waiting, from_oldest, window))
    place = (count + rank) % window
    word, posted = read(columns, place)
    answers = move.sends & (rank < window)
    is_spam = (run >= SPAM_RUN) | (jax.lax.population_count(state.sends) >= SPAM_SENDS)
    quiet = state.clock - last_post >= QUIET
    return ActionOutcome(
        move=move,
        answers=answers,
        target=jnp.where(answers, messages.flat_index(move.channel, place, state.run.shape[0]), -1),
        age=(state.clock - posted).astype(jnp.int32),
        named=messages.named(word),
        is_spam=move.sends & is_spam,
        engages=move.sends & ~is_spam & quiet & news,
        enters=move.switches & (state.clock - paid >= PAUSE),
        was_active=jax.lax.population_count(state.acts) >= BUSY_ACTS,
        steps_left=jnp.int32(0),
    )


def resolve(outcomes: ActionOutcome) -> ActionOutcome:
    """Of several agents ([N]) that would answer one mention, the lowest index does."""
    same = outcomes.target[:, None] == outcomes.target[None]
    lower = np.tri(outcomes.target.shape[0], k=-1, dtype=bool)
    answers = outcomes.answers & ~jnp.any(same & lower, axis=1)
    return outcomes.replace(answers=answers, target=jnp.where(answers, outcomes.target, -1))


def apply_actions(state: State, outcomes: ActionOutcome) -> State:
    """Answers, reactions, joins and switches; nothing is posted yet."""
    move, rings = outcomes.move, state.messages
    agents, C, here = move.place.shape[0], state.run.shape[0], state.channel.astype(jnp.int32)
    reacts_to = materialize(jnp.where(move.reacts, messages.flat_index(here, move.place, C), -1))  # [N]
    emoji = (move.emoji + 1).astype(jnp.uint32) << (4 * np.arange(agents, dtype=np.uint32))
    reacted = jnp.where(messages.is_at(reacts_to, rings.words), emoji[:, None], 0)
    answered = jnp.any(messages.is_at(materialize(outcomes.target), rings.words), axis=0)
    there = numbers(C)[None] == move.channel[:, None]  # [N, C]
    named = jnp.where(outcomes.answers, outcomes.named, -1)[:, None] == numbers(agents)[None]
    return state.replace(
        messages=rings.replace(
            words=rings.words & ~jnp.where(answered, messages.PENDING_BIT, 0),
            reactions=rings.reactions | jnp.sum(reacted, axis=0, dtype=jnp.uint32),
        ),
        waiting=state.waiting - jnp.sum(named, axis=0, dtype=jnp.int16),
        channel=jnp.where(move.switches, move.channel, here).astype(jnp.int8),
        unread=jnp.where(there & move.switches[:, None], 0, state.unread).astype(jnp.uint8),
        visited=state.visited | (there & move.switches[:, None]),
        paid=jnp.where(there & outcomes.enters[:, None], state.clock, state.paid),
        in_call=state.in_call | (there & move.joins[:, None]),
    )


def post_messages(state: State, scenario: Scenario, outcomes: ActionOutcome, post: Post) -> State:
    """The agents' messages, in their order, then the world's message, and who has them unread.

    Mentions that are pushed out, or will be too old when the clock moves, are missed.
    """
    move, clock = outcomes.move, state.clock
    users, agents = state.presence.shape[0], state.channel.shape[0]
    template = read(scenario.texts, read(scenario.first_text, move.kind))
    written = messages.pack(template, users + numbers(agents), move.kind, jnp.full(agents, -1, jnp.int32))
    rings = state.messages
    to = jnp.where(jnp.append(move.sends, post.is_posted), jnp.append(move.channel, post.channel), -1)
    to = materialize(to)  # [N + 1] the channel that each message goes to, -1 for none
    words = materialize(jnp.append(written, messages.pack(post.text, post.author, post.kind, post.named)))
    indices = materialize(messages.indices_of_posts(rings, to))

    is_old = rings.posted <= clock - scenario.mention_window
    is_lost = is_old | jnp.any(messages.is_at(indices, rings.words), axis=0)
    missed = messages.waiting(jnp.where(is_lost, rings.words, 0), agents)

    channels = numbers(state.run.shape[0])
    own, by_world = channels[None] == to[:-1, None], channels == to[-1]  # [N, C], [C]
    by_agents = jnp.sum(own, axis=0, dtype=jnp.int32)
    number = by_agents + by_world.astype(jnp.int32)
    elsewhere = channels[None] != state.channel[:, None].astype(jnp.int32)
    unread = state.unread.astype(jnp.int32) + jnp.where(elsewhere, number[None] - own.astype(jnp.int32), 0)
    received = (post.named == numbers(agents)).astype(jnp.int16)
    words_left = rings.words & ~jnp.where(is_old, messages.PENDING_BIT, 0)
    rings = rings.replace(words=words_left, count=rings.count + number)
    return state.replace(
        messages=messages.post(rings, indices, words, clock),
        run=jnp.where(by_world, 0, jnp.minimum(state.run.astype(jnp.int32) + by_agents, MAX_RUN)).astype(jnp.int8),
        last_post=jnp.where(by_world | (by_agents > 0), clock, state.last_post),
        unread=jnp.minimum(unread, MAX_UNREAD).astype(jnp.uint8),
        news=(state.news & ~own) | by_world[None],
        by_teammates=state.by_teammates + post.is_posted.astype(jnp.int16),
        calls=state.calls + post.starts_call.astype(jnp.int16),
        call_end=jnp.where(by_world & post.starts_call, clock + scenario.call_length, state.call_end),
        waiting=state.waiting + received - missed,
        counts=state.counts.replace(received=state.counts.received + received, missed=state.counts.missed + missed),
    )


def advance_clock(state: State, outcomes: ActionOutcome) -> State:
    """The clock advances, calls end, the windows become seen, and the actions are counted."""
    move, counts = outcomes.move, state.counts
    did = move.sends | move.reacts | move.joins
    counted = {"sent": move.sends, "switched": move.switches, "joined": move.joins, "reacted": move.reacts}
    counted |= {"valid": move.legal, "answered": outcomes.answers}
    state = state.replace(clock=jnp.minimum(state.clock, MAX_STEPS - 1) + 1)  # past the end it may be stepped on
    return state.replace(
        messages=messages.mark_seen(state.messages, state.channel),
        in_call=state.in_call & actions.is_running(state)[None],
        sends=remember(state.sends, move.sends) & MEMORY_OF_SENDS,
        acts=remember(state.acts, did) & MEMORY_OF_ACTS,
        counts=counts.replace(
            **{name: getattr(counts, name) + each.astype(jnp.int16) for name, each in counted.items()},
            waited=counts.waited + jnp.where(outcomes.answers, outcomes.age, 0),
        ),
    )


def remember(bits: jax.Array, is_done: jax.Array) -> jax.Array:
    """A history of bits, one step older, with the current step in the lowest bit."""
    return (bits << 1) | is_done.astype(bits.dtype)


def numbers(size: int) -> np.ndarray:
    """[size] int32: 0, 1 and so on."""
    return np.arange(size, dtype=np.int32)


def is_away(state: State) -> jax.Array:
    """[N] bool: the last act of each agent, or the reset, is six steps old or more."""
    return (state.acts == 0) & (state.clock >= AWAY_AFTER)
