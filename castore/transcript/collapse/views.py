"""Views: what the model gets of one session, as commits say, and what that takes. Pure, but for summaries
that are read from the log when they are first needed.

Law: the same session and commits give the same view; what a part of a session takes is counted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from castore.digest import Digest
from castore.transcript.budget import Budget
from castore.transcript.collapse.model import Commit
from castore.transcript.collapse.persistence import CollapseLog
from castore.transcript.collapse.project import collapsed_region, project
from castore.transcript.collapse.spans import Messages, Region
from castore.transcript.decision import ViewOptions
from castore.transcript.measure import Measured, Meter
from castore.transcript.model import Transcript
from castore.transcript.render import Rendered, render
from castore.transcript.strategies import decide, find_strategies

__all__ = ["Views"]


class Views:
    """strategies, options: of the views, after the collapse. Raises InvalidOption for one that is none."""

    def __init__(self, strategies: Sequence[str], options: ViewOptions | None) -> None:
        self._strategies = find_strategies(strategies)
        self._options = options or ViewOptions()
        self._summaries: dict[Digest, str] = {}
        self._meters: tuple[Transcript | None, dict[bool, Meter]] = (None, {})
        """Of the session that was measured last, by whether they count tokens."""

    def project(self, messages: Messages, commits: Iterable[Commit], log: CollapseLog) -> Transcript:
        """Raises what reading a summary raises."""
        return project(
            messages.transcript,
            commits,
            lambda digest: self.summary(digest, log),
            retrieve_with=self._options.retrieve_with,
            messages=messages,
        )

    def render(self, projected: Transcript) -> Rendered:
        decisions = decide(projected, self._strategies, self._options)
        return render(projected, decisions, self._options)

    def measure(self, rendered: Rendered, session: Transcript, budget: Budget) -> Measured:
        """What a view of the session takes, in the budget's unit."""
        if self._meters[0] is not session:
            self._meters = (session, {})
        meters = self._meters[1]
        if budget.is_tokens not in meters:
            meters[budget.is_tokens] = Meter(session, is_tokens=budget.is_tokens)
        return meters[budget.is_tokens].measure(rendered)

    def is_shorter(self, messages: Messages, region: Region, summary: str) -> bool:
        """Whether what would hide the region is shorter than the region."""
        words = self._options.retrieve_with
        return collapsed_region(messages, region, "", summary, retrieve_with=words) is not None

    def summary(self, digest: Digest, log: CollapseLog) -> str:
        """The text of a summary. Raises what reading it raises."""
        text = self._summaries.get(digest)
        if text is None:
            text = self._summaries[digest] = log.summary(digest)
        return text

    def remember(self, summaries: Mapping[Digest, str]) -> None:
        """These need not be read."""
        self._summaries.update(summaries)
