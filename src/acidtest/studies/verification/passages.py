"""Knowledge against the document, passages that disagree, and answers of several sentences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from acidtest.core.estimate import Estimate
from acidtest.stats.discrimination import auc, balanced_accuracy
from acidtest.stats.intervals import rate
from acidtest.studies.scoring.rows import Flags, score_rows
from acidtest.studies.verification.claims import ANSWERS, KIND, PASSAGES, ClaimReader, ClaimRows
from acidtest.studies.verification.result import AnswerDetection, KindShare, KnowledgeUse

LEVEL, RESPONSE = "level", "response"
"""Columns of suite grounding/answers: *response* or *sentence*, and the response that a row is of."""
DOCUMENT_SAYS, CLAIM_SAYS = "document_says", "claim_says"
"""Columns of suite grounding/knowledge: as in the *world*, *otherwise* or *nothing*."""


def kind_shares(reader: ClaimReader) -> Iterator[KindShare]:
    """For every kind of claim in the suites on knowledge and conflicts, how often it is called supported."""
    for suite in PASSAGES.names_in(reader.run):
        rows = score_rows(reader.run, suite)
        if KIND not in rows.card.factors:
            continue
        claims = reader.read(rows)
        codes, kinds = rows.coded(KIND)
        for code, kind in enumerate(kinds[KIND]):
            of_kind = claims.select(codes == code)
            chosen, judged = of_kind.select(of_kind.answered), of_kind.select(of_kind.has_gold)
            if kind is None or not chosen.size:
                continue
            yield KindShare(
                suite=suite,
                kind=kind,
                claims=chosen.size,
                supported=rate(chosen.called, groups=chosen.documents),
                right=rate(judged.right, groups=judged.documents, empty="no claim has gold"),
            )


def knowledge_use(reader: ClaimReader) -> KnowledgeUse | None:
    """Whether verdicts follow the document or the world; None if the run has no suite that asks it."""
    for suite in PASSAGES.names_in(reader.run):
        rows = score_rows(reader.run, suite)
        if not {DOCUMENT_SAYS, CLAIM_SAYS} <= {*rows.card.factors}:
            continue
        claims = reader.read(rows)
        says, claimed = (rows.column(pl.col(name)) for name in (DOCUMENT_SAYS, CLAIM_SAYS))
        of_world = (claimed == "world").to_numpy()

        def share(values: Flags, chosen: pl.Series, claims: ClaimRows = claims) -> Estimate:
            here = chosen.to_numpy() & claims.answered
            return rate(values[here], groups=claims.documents[here], empty="no such claims")

        return KnowledgeUse(
            suite=suite,
            against=share(claims.called == of_world, says == "otherwise"),
            agreeing=share(claims.called != of_world, says == "world"),
            true_unsaid=share(claims.called, (says == "nothing") & (claimed == "world")),
            false_unsaid=share(claims.called, (says == "nothing") & (claimed != "world")),
        )
    return None


def answer_detection(reader: ClaimReader) -> AnswerDetection | None:
    """How answers with an unsupported sentence are recognised; None if the run has no suite of answers."""
    cards = reader.run.header.suites
    suites = [name for name in ANSWERS.names_in(reader.run) if {LEVEL, RESPONSE} <= {*cards[name].columns}]
    if not suites:
        return None
    rows = score_rows(reader.run, suites[0])
    claims = reader.read(rows)
    levels, answers = rows.column(pl.col(LEVEL)), rows.column(pl.col(RESPONSE))
    frame = pl.DataFrame(
        {
            "answer": answers,
            "whole": levels == RESPONSE,
            "score": pl.Series(claims.score).fill_nan(None),
            "called": claims.called,
            "supported": claims.supported,
            "unsupported": claims.unsupported,
            "document": claims.documents,
        }
    )
    sentences = frame.filter(~pl.col("whole"), pl.col("score").is_not_null())
    lowest = pl.col("score") == pl.col("score").min()
    of_sentences = sentences.group_by("answer", maintain_order=True).agg(
        lowest=pl.col("score").min(),
        all_called=pl.col("called").all(),
        sentences=pl.len(),
        wrong=pl.col("unsupported").sum(),
        located=(lowest & pl.col("unsupported")).sum() / lowest.sum(),
    )
    whole = frame.filter("whole", pl.col("score").is_not_null(), pl.col("supported") | pl.col("unsupported"))
    joined = whole.join(of_sentences, on="answer", maintain_order="left")
    if not joined.height:
        return None
    supported, documents = joined["supported"].to_numpy(), joined["document"].to_numpy()
    marked = joined.filter(pl.col("wrong") > 0)
    return AnswerDetection(
        answers=joined.height,
        unsupported=int((~supported).sum()),
        whole=auc(joined["score"].to_numpy(), supported, groups=documents),
        lowest=auc(joined["lowest"].to_numpy(), supported, groups=documents),
        whole_accuracy=balanced_accuracy(joined["called"].to_numpy(), supported, groups=documents),
        lowest_accuracy=balanced_accuracy(joined["all_called"].to_numpy(), supported, groups=documents),
        located=rate(
            marked["located"].to_numpy(), groups=marked["document"].to_numpy(), empty="no sentence is unsupported"
        ),
        chance=float(np.mean(marked["wrong"].to_numpy() / marked["sentences"].to_numpy()))
        if marked.height
        else float("nan"),
    )
