"""What is measured of a model that decides whether claims are supported by documents."""

from __future__ import annotations

import math
from dataclasses import dataclass

from acidtest.core.estimate import Estimate

NOT_MEASURED = Estimate(math.nan, note="not measured by the version that wrote the results")
CHANGES, KEEPS = "changes", "keeps"
"""What an edit does to gold."""


@dataclass(frozen=True)
class VerdictRule:
    """How scores become verdicts: as deployed, and by the threshold that untouched claims choose."""

    deployed: str
    """``argmax``, ``sum`` or ``threshold=T``."""
    chosen: float | None
    """The threshold with the highest balanced accuracy on all untouched claims; None if there is none to choose.

    Numbers beside it are cross-fitted: with a threshold for each half of the documents, chosen on the other half.
    """
    note: str = ""
    """Why no threshold was chosen."""


@dataclass(frozen=True)
class UntouchedClaims:
    """How a model does on claims as they are, supported against not; documents are the groups.

    A claim without a prediction counts as wrong in every number, whatever its gold; for AUC it loses every comparison.
    """

    claims: int
    """Claims with gold."""
    supported: int
    unanswered: int
    without_gold: int
    accuracy: Estimate
    commonest: float
    """The accuracy of giving all claims the verdict that is right for most; NaN without gold."""
    balanced_accuracy: Estimate
    balanced_accuracy_chosen: Estimate
    auc: Estimate
    recall: Estimate
    """Share of supported claims called supported."""
    false_support: Estimate
    """Share of other claims called supported or without a prediction."""
    false_support_chosen: Estimate
    called_supported: float = math.nan
    """Share of answered claims, with gold or without, that are called supported."""
    answered: int = 0
    documents: int = 0
    """Documents of answered claims."""
    tied: int = 0
    """Answered claims that argmax calls supported though another label is as likely."""
    coverage: Estimate = NOT_MEASURED
    """Share of claims with gold that have a prediction."""


@dataclass(frozen=True)
class RiskPoint:
    """How often predictions are wrong if the model keeps only those that it is most confident of."""

    coverage: float
    """Share of all claims with gold whose predictions are kept."""
    confidence: float
    """The lowest confidence among them: the probability of the predicted side."""
    risk: Estimate
    """Share of these predictions that are wrong."""


@dataclass(frozen=True)
class ReadingLimit:
    """After how many words of a document a model appears to stop reading."""

    words: Estimate
    """The number of words; the interval allows for evidence that is seen in part."""
    longest: int
    """Where the last evidence of all claims ends."""
    before: Estimate
    """Share of supported claims called supported if their evidence ends within ``words``."""
    beyond: Estimate
    """The same if it begins later."""
    p: float
    """That of a permutation test: does the place of the evidence matter in documents of one length?"""
    suites: tuple[str, ...]


@dataclass(frozen=True)
class ServicePrecision:
    """What verdicts are worth where a share of ``base_rate`` of all claims is not supported."""

    base_rate: float
    supported: Estimate
    """Share of claims called supported that are supported."""
    unsupported: Estimate
    """Share of other claims that are not."""


@dataclass(frozen=True)
class EditEffect:
    """What becomes of verdicts when claims or documents are edited: pairs of an original and an edited claim."""

    edit: str
    suite: str
    gold: str
    """``changes`` or ``keeps``."""
    kind: str
    """Empty for all kinds of the edit together."""
    pairs: int
    """Pairs in which both claims were answered."""
    documents: int
    unanswered: int
    wrong: Estimate
    """If gold changes: share of edited claims called supported or without a prediction, whatever the original got.

    Else: share of answered originals whose verdict the edit changes; an edited claim without a prediction is a change.
    """
    wrong_chosen: Estimate
    """The same with the threshold that untouched claims choose."""
    higher: Estimate
    """Share of pairs whose original has the higher score; ties count half, pairs without both predictions nothing."""
    shift: Estimate
    """Mean change of the score."""
    lost: Estimate
    """Share of pairs that are called supported before and not after."""
    gained: Estimate
    """Share of pairs that are called supported after and not before."""
    truncated: int
    """Pairs of which a claim was cut to fit the model."""
    wrong_truncated: Estimate
    wrong_whole: Estimate
    """``wrong`` among the pairs that were cut, and among the others."""
    accepted: Estimate = NOT_MEASURED
    """Share of answered edited claims called supported."""
    still_supported: Estimate = NOT_MEASURED
    """Of originals called supported, the share whose edited claim is called so as well, or has no prediction."""
    became_wrong: Estimate = NOT_MEASURED
    """Share of pairs with gold that are right before the edit and wrong after it."""
    became_right: Estimate = NOT_MEASURED
    net: Estimate = NOT_MEASURED
    """Pairs that become wrong minus those that become right; without gold, called supported before minus after."""
    net_p: float = math.nan
    """The chance of ``net`` if the edit did nothing; one-sided, or two-sided without gold."""


@dataclass(frozen=True)
class LengthControl:
    """Unsupported claims that were lengthened as much as those of an edit, without an edit of what they say."""

    edit: str
    """The edit that they are compared with."""
    suite: str
    claims: int
    unanswered: int
    wrong: Estimate
    """Share called supported or without a prediction."""
    accepted: Estimate
    """Share of those with a prediction called supported."""


@dataclass(frozen=True)
class CurvePoint:
    """Verdicts on claims whose document has some length, or whose evidence stands in some place."""

    curve: str
    name: str
    words: float
    """Mean number of words of the documents."""
    claims: int
    recall: Estimate
    """Share of supported claims called supported."""
    false_support: Estimate
    """Share of other claims called supported."""
    changed: Estimate
    """Share of verdicts that differ from those on the same claims untouched."""
    truncated: int


@dataclass(frozen=True)
class KindShare:
    """The share of claims of a kind that are called supported, in suites about knowledge and conflicting passages."""

    suite: str
    kind: str
    claims: int
    supported: Estimate
    right: Estimate
    """Share of verdicts that follow gold."""


@dataclass(frozen=True)
class KnowledgeUse:
    """Whether verdicts follow the document, or what is true in the world."""

    against: Estimate
    """Share of verdicts that follow the world where the document says otherwise."""
    agreeing: Estimate
    """Share of wrong verdicts on such claims where the document says what is true in the world."""
    true_unsaid: Estimate
    """Share called supported of claims that are true in the world and not in the document."""
    false_unsaid: Estimate
    """The same of false ones."""
    suite: str = ""


@dataclass(frozen=True)
class AnswerDetection:
    """Whether answers of several sentences, one of them unsupported, are recognised, and the sentence is."""

    answers: int
    unsupported: int
    """Answers with an unsupported sentence."""
    whole: Estimate
    """AUC of the score of the whole answer."""
    lowest: Estimate
    """AUC of the lowest score of its sentences."""
    whole_accuracy: Estimate
    """Balanced accuracy of verdicts on whole answers."""
    lowest_accuracy: Estimate
    """Balanced accuracy of calling an answer unsupported if one of its sentences is called so."""
    located: Estimate
    """Share of answers with an unsupported sentence in which that one has the lowest score; ties in equal parts."""
    chance: float
    """The same by chance: the mean of one over the number of sentences."""


@dataclass(frozen=True)
class ModelGrounding:
    """Everything measured of one model on suites of documents and claims."""

    suites: tuple[str, ...]
    documents: int
    pairs: int
    """Claims asked, edited and not, that were answered."""
    called_supported: float
    """Share of them called supported."""
    to_support: int
    """How many of those answered are supported, by gold."""
    to_reject: int
    """How many of them are not, by gold or, without gold, by what an edit does."""
    truncated: int
    rule: VerdictRule
    untouched: UntouchedClaims
    precision: ServicePrecision | None
    edits: tuple[EditEffect, ...]
    curves: tuple[CurvePoint, ...]
    kinds: tuple[KindShare, ...]
    knowledge: KnowledgeUse | None
    answers: AnswerDetection | None
    notes: tuple[str, ...] = ()
    starter: tuple[str, ...] = ()
    """Suites that are not made from the user's file where others are."""
    unanswered: int = 0
    """Claims asked, edited and not, without a prediction."""
    where_answered: UntouchedClaims | None = None
    """``untouched`` over the claims that have a prediction; None if all have."""
    risks: tuple[RiskPoint, ...] = ()
    """Risk against coverage, from all predictions to the most confident quarter."""
    repeats: Estimate = NOT_MEASURED
    """Share of texts evaluated several times whose verdicts differ; null if none does, since runs keep predictions."""
    reading: ReadingLimit | None = None
    """None if the model is not shown to stop reading."""
    length_controls: tuple[LengthControl, ...] = ()
    """What edits that lengthen claims are compared with, besides untouched claims."""

    @property
    def answered(self) -> UntouchedClaims:
        """How the model does on untouched claims that have a prediction."""
        return self.where_answered or self.untouched

    def length_control(self, edit: str) -> LengthControl | None:
        """The unsupported claims as long as those of an edit; None if the run has none."""
        return next((control for control in self.length_controls if control.edit == edit), None)

    @property
    def whole_edits(self) -> tuple[EditEffect, ...]:
        """The edits, all kinds of each together."""
        return tuple(edit for edit in self.edits if not edit.kind)
