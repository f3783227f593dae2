"""What an endpoint has used, and what became of its replies: counts, cost, and notes on results."""

from __future__ import annotations

from dataclasses import dataclass, field

from acidtest.models.replies import Reply, ReplyMeaning

LOW_SHARE = 0.5
"""A reply is faint when more than this share of the probability is on no answer."""


@dataclass
class Traffic:
    """Requests, tokens and seconds so far; ``uncounted`` replies came without their number of tokens."""

    requests: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    uncounted: int = 0
    seconds: float = 0.0

    def add(self, reply: Reply) -> None:
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            self.uncounted += 1
        self.prompt_tokens += reply.prompt_tokens or 0
        self.completion_tokens += reply.completion_tokens or 0


@dataclass(frozen=True)
class TokenPrices:
    """Prices of a million tokens in prompts and in replies; 0 for both: unknown."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, traffic: Traffic) -> float:
        return (traffic.prompt_tokens * self.tokens_in + traffic.completion_tokens * self.tokens_out) / 1e6


@dataclass
class ReplyCounts:
    """What became of pairs and replies so far, in this process."""

    pairs: int = 0
    unanswered: int = 0
    unparsed: int = 0
    refused: int = 0
    readings: int = 0
    unassigned: float = 0.0
    faint: int = 0
    order_compared: int = 0
    order_changes: int = 0
    paraphrase_compared: int = 0
    paraphrase_changes: int = 0
    problems: dict[str, int] = field(default_factory=dict)

    def add(self, meaning: ReplyMeaning) -> None:
        """Count a reply that was read, and the problem it has, if it has one."""
        if meaning.unassigned is not None:
            self.readings += 1
            self.unassigned += meaning.unassigned
            self.faint += meaning.unassigned > LOW_SHARE
        if meaning.problem:
            refused = meaning.problem.startswith("refused")
            self.refused += refused
            self.unparsed += not refused
            self.problems[meaning.problem] = self.problems.get(meaning.problem, 0) + 1

    def usage(self, traffic: Traffic, prices: TokenPrices) -> dict[str, float]:
        """All counts by name; tokens where the server counts them, cost where prices are known, too."""
        usage: dict[str, float] = {
            "requests": traffic.requests,
            "retries": traffic.retries,
            "seconds": traffic.seconds,
            "unanswered": self.unanswered,
            "unparsed": self.unparsed,
            "refused": self.refused,
        }
        if traffic.requests and not traffic.uncounted:
            usage |= {"prompt_tokens": traffic.prompt_tokens, "completion_tokens": traffic.completion_tokens}
            if prices != TokenPrices():
                usage["cost"] = prices.cost(traffic)
        if self.readings:
            usage |= {"unassigned": self.unassigned / self.readings, "faint": self.faint}
        if self.order_compared:
            usage |= {"order_compared": self.order_compared, "order_changes": self.order_changes}
        if self.paraphrase_compared:
            usage |= {
                "paraphrase_compared": self.paraphrase_compared,
                "paraphrase_changes": self.paraphrase_changes,
            }
        return usage

    def notes(self, traffic: Traffic, prices: TokenPrices) -> list[str]:
        """What a reader of the results should know about the replies."""
        notes = []
        if self.problems:
            reasons = ", ".join(f"{number:,} {problem}" for problem, number in sorted(self.problems.items()))
            notes.append(f"{self.unanswered:,} of {self.pairs:,} pairs unanswered (replies: {reasons})")
        if self.readings:
            notes.append(
                f"{self.unassigned / self.readings:.1%} of the probability at the place of the answer is on no answer "
                f"({self.faint:,} of {self.readings:,} replies: more than half)"
            )
        for what, compared, changes in (
            ("order of the answers", self.order_compared, self.order_changes),
            ("prompt", self.paraphrase_compared, self.paraphrase_changes),
        ):
            if compared:
                notes.append(f"with another {what} the answer changes for {changes:,} of {compared:,} pairs")
        if traffic.uncounted and prices != TokenPrices():
            notes.append("the cost is unknown: the server does not count its tokens")
        return notes
