"""A great many calls of intrinsics, legal ones and broken ones, the same in every run.

Of each operation all sub-operations that go together, with all shapes that spec/ocg gives for them, for every target that ptxas
has code for; where these are more than ``MOST`` of an operation and target, an even choice of them. Broken calls are made from
them: what :data:`BREAKS` has is done to a call, and ptxas says whether that is legal.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from oric.lower.ocg import Call
from oric.support.ocg_source import SIZES, Param, parse, written
from oric_tables import ocg
from oric_tables.intrinsics import GROUPS
from oric_tables.targets import TARGETS as ALL
from oricgen.spec import Spec
from oricgen.tables import intrinsics

TARGETS: Final = tuple(GROUPS)  # all that ptxas has code for
MOST: Final = 150  # calls of an operation and target
_WAYS: Final = 4000  # ways to choose sub-operations that are looked at of an operation and target
_SELDOM: Final = 0.7
_BROKEN: Final = 16  # broken calls of an operation and target
_TYPES: Final = tuple(sorted(SIZES))


class Item(NamedTuple):
    """A call: for which target, the name behind the prefix, results and arguments, whether these are variables in ``.param``."""

    target: str
    call: str
    params: str
    variables: bool


def operation_words(operation: intrinsics.Operation, rng: random.Random) -> list[tuple[str, ...]]:
    """Ways to choose sub-operations of an operation, one of a group or none, two where a group is named twice.

    All of them, or a choice of those of an operation that has very many.
    """
    choices: list[list[tuple[str, ...]]] = []
    for name, words in operation.groups.items():
        single: list[tuple[str, ...]] = [(word,) for word in words if word not in operation.refused]
        if name in operation.twice:
            single = [(*first, *second) for first in single for second in single]
        choices.append(single if name in operation.required else [(), *single])
    if math.prod(map(len, choices)) <= _WAYS:
        return [tuple(itertools.chain.from_iterable(chosen)) for chosen in itertools.product(*choices)]
    found = {tuple(itertools.chain.from_iterable(_some(group, rng) for group in choices)): None for _ in range(_WAYS)}
    return list(found)


def _some(group: list[tuple[str, ...]], rng: random.Random) -> tuple[str, ...]:
    """One of a group; none, where that is allowed, more often than not."""
    return () if not group[0] and rng.random() < _SELDOM else rng.choice(group)


def legal(spec: Spec, targets: tuple[str, ...] = TARGETS) -> Iterator[Item]:
    """Calls that are built as they should be; ptxas decides whether they are."""
    for name, operation in intrinsics.load(spec).operations.items():
        if name not in ocg.SHAPES:
            continue
        for target in targets:
            rng = random.Random(f"{name} {target}")
            found = [
                Item(target, "_".join((name, *_ordered(operation, words, rng))), params, rng.random() < 0.5)
                for words in operation_words(operation, rng)
                for params in dict.fromkeys(ocg.SHAPES[name](Call(ALL[target], name, words, [], 0)))
            ]
            yield from found if len(found) <= MOST else _even(found, rng)


def _even(found: list[Item], rng: random.Random) -> list[Item]:
    """As many as there may be, from all parts of the list."""
    step = len(found) / MOST
    return [found[int(step * n) + rng.randrange(max(1, int(step)))] for n in range(MOST)]


def _ordered(operation: intrinsics.Operation, words: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """The words in the order of the groups, or in any where that is allowed."""
    if operation.fixed_order or rng.random() < 0.5:
        return words
    return tuple(rng.sample(words, len(words)))


Break = Callable[[list[str], list[Param], list[Param], "_Maker"], None]


class _Maker:
    """What a break needs: randomness and the words of all operations."""

    def __init__(self, rng: random.Random, own: tuple[str, ...], foreign: list[str]) -> None:
        self.rng = rng
        self.own = own
        self.foreign = foreign


def _another_word(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    words.insert(m.rng.randint(0, len(words)), m.rng.choice([*m.own, *m.own, m.rng.choice(m.foreign), "zzz"]))


def _word_less(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    if words:
        words.pop(m.rng.randrange(len(words)))


def _word_twice(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    if words:
        words.insert(m.rng.randint(0, len(words)), m.rng.choice(words))


def _other_order(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    m.rng.shuffle(words)


def _damaged_word(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    if words:
        at = m.rng.randrange(len(words))
        words[at] = m.rng.choice([words[at] + "x", words[at][:-1], "", words[at].upper(), "_" + words[at]])


def _argument_more(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    for _ in range(m.rng.choice((1, 1, 2))):
        arguments.insert(m.rng.randint(0, len(arguments)), m.rng.choice([*arguments, Param("b32"), Param("b64")]))


def _argument_less(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    for _ in range(m.rng.choice((1, 1, 2, 9))):
        if arguments:
            arguments.pop(m.rng.randrange(len(arguments)))


def _argument_type(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    if arguments:
        at = m.rng.randrange(len(arguments))
        arguments[at] = Param(m.rng.choice(_TYPES), arguments[at].constant)


def _all_types(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    type_ = m.rng.choice(_TYPES)
    results[:] = [Param(type_) for _ in results]
    arguments[:] = [Param(type_, one.constant) for one in arguments]


def _result_type(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    if results:
        results[m.rng.randrange(len(results))] = Param(m.rng.choice(_TYPES))


def _result_more(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    results.append(results[0] if results else Param(m.rng.choice(("b32", "b64", "f32"))))


def _result_less(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    if results:
        results.pop()


def _constant(words: list[str], results: list[Param], arguments: list[Param], m: _Maker) -> None:
    if arguments:
        at = m.rng.randrange(len(arguments))
        one = arguments[at]
        integral = one.type[0] != "f"
        arguments[at] = Param(one.type) if one.constant else Param(one.type, m.rng.choice(("0", "1", "300"))) if integral else one


BREAKS: Final[tuple[Break, ...]] = (
    _another_word, _word_less, _word_twice, _other_order, _damaged_word, _argument_more, _argument_less, _argument_type,
    _all_types, _result_type, _result_more, _result_less, _constant,
)  # fmt: skip


def broken(spec: Spec, targets: tuple[str, ...] = TARGETS) -> Iterator[Item]:
    """Calls with one or two mistakes, and names of no operation."""
    model = intrinsics.load(spec)
    foreign = sorted({word for operation in model.operations.values() for word in operation.subops})
    by_place: dict[tuple[str, str], list[Item]] = {}
    for item in legal(spec, targets):
        by_place.setdefault((_operation_of(model, item.call), item.target), []).append(item)
    for (name, target), items in by_place.items():
        rng = random.Random(f"broken {name} {target}")
        maker = _Maker(rng, model.operations[name].subops, foreign)
        for n in range(_BROKEN):
            item = rng.choice(items)
            words = item.call[len(name) + 1 :].split("_") if item.call != name else []
            results, arguments = parse(item.params)
            for change in (BREAKS[n % len(BREAKS)], *((rng.choice(BREAKS),) if n >= _BROKEN // 2 else ())):
                change(words, results, arguments, maker)
            yield Item(target, "_".join((name, *words)), written(results, arguments), item.variables)
        damaged = rng.choice((name + "x", name[:-1], name.upper(), name.replace("_", ""), "x" + name))
        yield Item(target, damaged, items[0].params, False)


def _operation_of(model: intrinsics.Intrinsics, call: str) -> str:
    """The operation that a name begins with: of several the longest."""
    return max((name for name in model.operations if call == name or call.startswith(f"{name}_")), key=len)
