"""The sentence that a comparison opens with: on which suites the second model is better, worse or undecided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from acidtest.core.document import describe_count
from acidtest.core.escaping import escape_control
from acidtest.core.numbers import signed
from acidtest.stats.contingency import ALPHA
from acidtest.studies.comparison.contrasts import Contrast

MOST_SENTENCES = 3
"""With more pairs of models than this, one sentence sums them up."""
MOST_SIZES = 3
"""The size is given for this many suites of a kind, the largest first."""
MOST_SLICES = 2
"""The most slices that are named of suites that show no difference as a whole."""
TWO_LINES = 190
"""The most characters of a sentence about two models: what two lines of a terminal hold."""

Pair = tuple[str, str]


def describe_comparison(contrasts: Sequence[Contrast]) -> str:
    """A line for each pair of models, or one for all where there are many; corrected over all suites.

    Controls are no suites: where nothing but controls was asked of both models, these take their place.
    """
    whole = [contrast for contrast in contrasts if not contrast.factor]
    suites = [contrast for contrast in whole if not contrast.is_control] or whole
    pairs: dict[Pair, list[Contrast]] = {}
    for contrast in suites:
        pairs.setdefault((contrast.first, contrast.second), []).append(contrast)
    if len(pairs) > MOST_SENTENCES:
        return _describe_many(suites)
    names = short_names([contrast.suite for contrast in suites])
    sentences = [_describe_pair(pair, members, names, len(pairs) > 1) for pair, members in pairs.items()]
    if len(pairs) == 1:
        sentences += _describe_slices([one for one in contrasts if one.factor and not one.is_control], suites, names)
    return "\n".join(map(escape_control, sentences))


def _describe_slices(slices: Sequence[Contrast], suites: Sequence[Contrast], names: Mapping[str, str]) -> list[str]:
    """The largest differences on slices of suites that are undecided as a whole: they may cancel out there.

    Tests are corrected over the slices of a factor, and here also over factors.
    """
    undecided = {one.suite for one in suites if one.verdict == "undecided"}
    alpha = ALPHA / max(len({one.family for one in slices}), 1)
    shown = by_size([one for one in slices if one.suite in undecided and one.is_shown(alpha)])
    if not shown:
        return []
    texts = [
        f"{names[one.suite]}:{one.factor}={one.value} ({signed(one.difference.value)})" for one in shown[:MOST_SLICES]
    ]
    return [f"Its slices differ, though: {listed(texts)}; --by {shown[0].factor} shows more."]


def short_names(suites: Sequence[str]) -> dict[str, str]:
    """Suites without their family, ``word-overlap`` for ``stress/word-overlap``, where no other is called so.

    A suite keeps its family if that is one of the suites, as ``hans/novel`` beside ``hans``.
    """
    distinct = dict.fromkeys(suites)
    last = {suite: _without_family(suite) for suite in distinct}
    counts = Counter(last.values())
    bare = {suite.partition(":")[0] for suite in distinct}
    return {
        suite: short if counts[short] == 1 and suite.partition(":")[0].rpartition("/")[0] not in bare else suite
        for suite, short in last.items()
    }


def by_size(contrasts: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts, the largest difference first and those that cannot be computed last."""
    return sorted(contrasts, key=lambda one: -abs(one.difference.value) if one.difference.known else 1.0)


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Names as they stand in a sentence: ``a, b and c``; beyond ``most`` of them ``a, b and 3 more``."""
    shown = list(names) if most is None or len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _without_family(suite: str) -> str:
    name, colon, options = suite.partition(":")
    return f"{name.rpartition('/')[2]}{colon}{options}"


def _describe_pair(pair: Pair, contrasts: Sequence[Contrast], names: Mapping[str, str], several: bool) -> str:
    """The sentence about two models, with as many suites named as two lines hold."""
    first, second = pair
    if all(one.verdict == "undecided" for one in contrasts):
        where = f"on {names[contrasts[0].suite]}" if len(contrasts) == 1 else f"on any of {len(contrasts)} suites"
        return f"No difference is shown between {first} and {second} {where}."
    opening = f"Against {first}, {second} is" if several else f"{second} is"
    sentence = ""
    for most in range(len(contrasts), 0, -1):
        sentence = f"{opening} {', '.join(_describe_kinds(by_size(contrasts), names, most))}."
        if len(sentence) <= TWO_LINES:
            break
    return sentence


def _describe_kinds(contrasts: Sequence[Contrast], names: Mapping[str, str], most: int) -> list[str]:
    """``better on …``, ``worse on …``, ``undecided on …``, each with at most ``most`` suites."""
    phrases = []
    for verdict in ("better", "worse"):
        chosen = [one for one in contrasts if one.verdict == verdict]
        texts = [
            f"{names[one.suite]} ({signed(one.difference.value)})" if place < MOST_SIZES else names[one.suite]
            for place, one in enumerate(chosen)
        ]
        phrases += [f"{verdict} on {listed(texts, most)}"] if chosen else []
    undecided = [one for one in contrasts if one.verdict == "undecided"]
    if undecided:
        rest = names[undecided[0].suite] if len(undecided) == 1 else "the rest"
        phrases.append(f"undecided on {rest}")
    return phrases


def _describe_many(suites: Sequence[Contrast]) -> str:
    """How many comparisons show a difference, and which model is most often the better and the worse one."""
    better, worse = Counter[str](), Counter[str]()
    for one in suites:
        if one.verdict != "undecided":
            winner, loser = (one.second, one.first) if one.verdict == "better" else (one.first, one.second)
            better[winner] += 1
            worse[loser] += 1
    models = len({name for one in suites for name in (one.first, one.second)})
    shown = sum(better.values())
    tests = f"{describe_count(len(suites), 'comparison')} of {models} models on whole suites"
    if not shown:
        return f"None of {tests} shows a difference."
    (best, wins), (last, losses) = better.most_common(1)[0], worse.most_common(1)[0]
    what = f"{shown} of {tests} {'shows' if shown == 1 else 'show'} a difference"
    return f"{what}: most often {best} is better ({wins}) and {last} is worse ({losses})."
