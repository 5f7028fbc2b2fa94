"""Laws of views: over every fixture of every format and every strategy, and of views among themselves."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from castore.api import (
    clip_text,
    collect,
    fold_bytes,
    fold_stream,
    keep,
    open_store,
    unfold_bytes,
    unfold_stream,
    verify_files,
)
from castore.digest import Digest
from castore.errors import (
    DigestAmbiguous,
    InvalidOption,
    LimitExceeded,
    ObjectMissing,
    SessionInvalid,
    UnfoldMismatch,
    ViewMissing,
)
from castore.fold.policy import FoldPolicy
from castore.objects.finding import FindingName
from castore.store import Store, StoreHandle
from castore.store.keeping import RootChoice
from castore.transcript.budget import Budget
from castore.transcript.checking import check_view
from castore.transcript.decision import Act, ViewOptions
from castore.transcript.model import PartKind
from castore.transcript.recorded import splices_of
from castore.transcript.view import ViewRequest, make_view, plan_view
from tests.transcript.laws import REQUESTS, hold_all, hold_prefixes, transcript_of
from tests.transcript.sessions import pi_session

FIXTURES = sorted(
    path for path in (Path(__file__).parent / "fixtures").rglob("*") if path.suffix in (".json", ".jsonl")
)
STEP_ONE = ViewRequest(options=ViewOptions(step=1))


@pytest.fixture
def store(fast_path: Path) -> Iterator[Store]:
    opened = open_store(fast_path / "store", create=True)
    yield opened
    opened.close()


class TestEveryLawOfOneView:
    @pytest.mark.parametrize("request_name", REQUESTS)
    @pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
    def test_holds_on_every_fixture(self, store: Store, path: Path, request_name: str) -> None:
        hold_all(store, path.read_bytes(), path.name, REQUESTS[request_name])

    @pytest.mark.parametrize("request_name", ["transparent", "transparent, step 1", "tiered", "clip"])
    @pytest.mark.parametrize(
        "path", [path for path in FIXTURES if path.suffix == ".jsonl"], ids=lambda path: path.name
    )
    def test_earlier_views_are_prefixes(self, path: Path, request_name: str) -> None:
        hold_prefixes(path.read_bytes(), REQUESTS[request_name])

    @given(turns=some.integers(1, 12), step=some.integers(1, 5), seed=some.integers(0, 1 << 30))
    def test_holds_on_generated_sessions(self, turns: int, step: int, seed: int) -> None:
        session = pi_session(turns, result=f'{seed} {{turn}} "quoted" \\ and é \U0001f600\n' * (seed % 40))
        hold_prefixes(session, ViewRequest(options=ViewOptions(step=step)))
        view = plan_view(session, ViewRequest(options=ViewOptions(step=step)))
        moved = {
            view.transcript.parts[each.part].turn for each in view.rendered.splices if each.part is not None
        }
        assert all(turn < view.transcript.turns - 1 for turn in moved), "the last turn stays whole"


class TestViewsOfViews:
    def test_other_options_are_refused(self, store: Store) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE).to_bytes()
        with pytest.raises(InvalidOption, match="view already"):
            make_view(view, StoreHandle.of(store), ViewRequest(options=ViewOptions(step=2)))
        with pytest.raises(InvalidOption, match="view already"):
            make_view(view, StoreHandle.of(store), ViewRequest(("clip",)))

    def test_what_a_harness_appends_passes_through(self, store: Store) -> None:
        session, grown = pi_session(5), pi_session(7)
        assert grown.startswith(session)
        tail = grown[len(session) :]
        view = make_view(session, StoreHandle.of(store), STEP_ONE).to_bytes()
        assert unfold_bytes(store, view + tail) == grown
        again = make_view(view + tail, StoreHandle.of(store), STEP_ONE)
        assert again.to_bytes() == plan_view(grown, STEP_ONE).to_bytes()
        assert unfold_bytes(store, again.to_bytes()) == grown

    def test_an_edited_one_is_refused(self, store: Store) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE).to_bytes()
        edited = view.replace(b"prompt 3", b"prompt 8")
        assert edited != view
        for document in (edited, view[:-9], view + b'{"cut'):
            with pytest.raises(UnfoldMismatch, match="changed since"):
                unfold_bytes(store, document)

    def test_two_sessions_with_one_view_are_told(self, store: Store) -> None:
        # Details never reach the model and leave no marker, so two sessions can look the same.
        one = pi_session(5).replace(
            b'"isError": false', b'"details": {"a": "%b"}, "isError": false' % (b"x" * 400)
        )
        two = one.replace(b"x" * 400, b"y" * 400)
        views = [
            make_view(each, StoreHandle.of(store), STEP_ONE, source_name=name).to_bytes()
            for each, name in ((one, "one.jsonl"), (two, "two.jsonl"))
        ]
        assert views[0] != views[1] or views[0] == views[1]
        if views[0] == views[1]:
            with pytest.raises(DigestAmbiguous):
                unfold_bytes(store, views[0])
            for session, name in ((one, "one.jsonl"), (two, "two.jsonl")):
                target = io.BytesIO()
                unfold_stream(io.BytesIO(views[0]), target, StoreHandle.of(store), session=name)
                assert target.getvalue() == session

    def test_a_session_that_nothing_leaves_comes_back_though_it_has_markers(self, store: Store) -> None:
        clipped = clip_text(store, "a line of the build\n" * 900, characters_max=500)
        session = pi_session(2, result=clipped.replace("{", ""))
        view = make_view(session, StoreHandle.of(store), ViewRequest()).to_bytes()
        assert view == session
        assert b"characters stand here" in view
        assert unfold_bytes(store, view) == session
        grown = pi_session(9, result=clipped)
        again = make_view(grown, StoreHandle.of(store), STEP_ONE).to_bytes()
        assert unfold_bytes(store, again) == grown

    def test_the_markers_of_a_quoting_session_are_prose(self, store: Store) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE)
        marker = next(each for each in view.to_bytes().decode().split('"') if each.startswith("[ctx "))
        quoting = pi_session(6).replace(b"prompt 1, and", f"{marker} prompt 1, and".encode())
        again = make_view(quoting, StoreHandle.of(store), STEP_ONE)
        assert marker.encode() in again.to_bytes()
        assert unfold_bytes(store, again.to_bytes()) == quoting


class TestBesideFold:
    def test_a_view_that_is_folded_comes_back_or_is_refused(self, store: Store) -> None:
        session = pi_session(5)
        view = make_view(session, StoreHandle.of(store), STEP_ONE).to_bytes()
        edited = view.replace(b"prompt 3", b"prompt 8")
        tail = pi_session(6)[len(session) :]
        handle = StoreHandle.of(store)
        for document in (edited, view + tail, view):
            target = io.BytesIO()
            report = fold_stream(io.BytesIO(document), target, handle, FoldPolicy(bytes_over=1 << 30))
            assert target.getvalue() == document
            assert report.root is not None
        assert unfold_bytes(store, edited) == edited
        with pytest.raises(DigestAmbiguous):
            unfold_bytes(store, view)

    def test_a_folded_view_unfolds_to_the_view_and_then_to_the_session(self, store: Store) -> None:
        session = pi_session(9)
        view = make_view(session, StoreHandle.of(store), ViewRequest(options=ViewOptions(step=4))).to_bytes()
        folded = fold_bytes(store, view, FoldPolicy(bytes_over=200))
        assert folded != view
        assert unfold_bytes(store, folded) == view
        assert unfold_bytes(store, view) == session

    def test_a_session_with_references_of_its_own_comes_back(self, store: Store) -> None:
        plain = pi_session(1)
        session = plain.replace(b'{"command": "make 0"}', b'{"$ctx": {"kind": "text"}, "$$ctx": 1}')
        view = make_view(session, StoreHandle.of(store), ViewRequest())
        assert view.to_bytes() == session
        assert unfold_bytes(store, session) == session


class TestWhatARootKeeps:
    def test_a_gone_object_is_an_error_and_nothing_else(self, store: Store) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE)
        store.purge(view.rendered.splices[0].descriptor.digest, "a secret")
        with pytest.raises(Exception, match="purged"):
            unfold_bytes(store, view.to_bytes())

    def test_a_store_without_its_index_gives_the_session_back(self, store: Store, fast_path: Path) -> None:
        session = pi_session(5)
        first = make_view(session, StoreHandle.of(store), STEP_ONE).to_bytes()
        grown = pi_session(9)
        last = make_view(grown, StoreHandle.of(store), STEP_ONE).to_bytes()
        store.close()
        for path in (fast_path / "store").glob("index.sqlite*"):
            path.unlink()
        again = open_store(fast_path / "store")
        assert unfold_bytes(again, last) == grown
        assert unfold_bytes(again, first) == session
        again.close()

    def test_a_longer_view_is_a_delta_on_the_earlier_one(self, store: Store) -> None:
        roots = [make_view(pi_session(turns), StoreHandle.of(store), STEP_ONE).root for turns in range(3, 12)]
        for earlier, later in pairwise(roots):
            assert earlier is not None
            assert later is not None
            assert later.base == earlier.id
            assert len(later.details["view"]["splices"]) == 1
            kept = splices_of(store, earlier)
            assert splices_of(store, later)[: len(kept)] == kept

    def test_a_view_of_a_grown_session_heals_what_an_earlier_one_needs(
        self, store: Store, fast_path: Path
    ) -> None:
        first = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE)
        digest = first.rendered.splices[0].descriptor.digest
        file = fast_path / "store" / "objects" / digest.hex[:2] / digest.hex
        file.chmod(0o600)
        file.write_bytes(b"not what it was")
        grown = make_view(pi_session(7), StoreHandle.of(store), STEP_ONE)
        assert unfold_bytes(store, grown.to_bytes()) == pi_session(7)
        assert unfold_bytes(store, first.to_bytes()) == pi_session(5)

    def test_another_store_says_that_it_knows_nothing_of_it(self, store: Store, tmp_path: Path) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE).to_bytes()
        other = open_store(tmp_path / "other", create=True)
        file = tmp_path / "view.jsonl"
        file.write_bytes(view)
        for handle in (StoreHandle.of(other), StoreHandle(tmp_path / "none", may_create=False)):
            target = io.BytesIO()
            with pytest.raises(ViewMissing):
                unfold_stream(io.BytesIO(view), target, handle)
            assert target.getvalue() == b""
            assert [each.name for each in verify_files([str(file)], handle)] == [FindingName.MISSING]
        # What is folded there is a document like any other.
        folded = io.BytesIO()
        fold_stream(io.BytesIO(view), folded, StoreHandle.of(other), FoldPolicy(bytes_over=1 << 30))
        assert folded.getvalue() == view
        assert unfold_bytes(other, view) == view
        assert list(verify_files([str(file)], StoreHandle.of(other))) == []
        other.close()

    def test_a_longer_view_is_not_taken_for_an_earlier_one_with_a_tail(
        self, store: Store, tmp_path: Path
    ) -> None:
        other = open_store(tmp_path / "other", create=True)
        for known in (store, other):
            make_view(pi_session(5), StoreHandle.of(known), ViewRequest(options=ViewOptions(step=4)))
        longer = make_view(pi_session(9), StoreHandle.of(store), ViewRequest(options=ViewOptions(step=4)))
        assert longer.to_bytes().count(b"[ctx ") > 3
        assert unfold_bytes(store, longer.to_bytes()) == pi_session(9)
        with pytest.raises((ViewMissing, UnfoldMismatch)):
            unfold_bytes(other, longer.to_bytes())
        other.close()

    def test_a_tag_and_a_keep_of_a_view_keep_it(self, store: Store, fast_path: Path) -> None:
        for turns, act in ((5, "tag"), (7, "keep"), (9, "file")):
            view = make_view(pi_session(turns), StoreHandle.of(store), STEP_ONE).to_bytes()
            digest = str(Digest.of(view))
            if act == "tag":
                store.tag("mine", digest)
            elif act == "keep":
                store.keep([store.keep_draft(digest)])
            else:
                file = fast_path / "kept.jsonl"
                file.write_bytes(view)
                keep(store, files=[file])
            store.forget(RootChoice(references=(digest,)), at_once=True)
            collect(store, forgotten_now=True)
            assert unfold_bytes(store, view) == pi_session(turns), act

    def test_gc_keeps_the_views_that_lie_in_files(self, store: Store, fast_path: Path) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE).to_bytes()
        file = fast_path / "view.jsonl"
        file.write_bytes(view)
        store.forget(RootChoice(references=(str(Digest.of(view)),)))
        collect(store, documents=[file], forgotten_now=True)
        assert unfold_bytes(store, view) == pi_session(5)
        file.unlink()


class TestRepeats:
    @pytest.mark.parametrize("later", ["transparent", "clip", "tiered", "cap"])
    def test_what_a_marker_points_to_stands_in_full(self, later: str) -> None:
        session = pi_session(12, result="the same each time, and long enough to be worth a marker\n" * 40)
        options = ViewOptions(step=1, clip_characters=300, cap_bytes=18_000)
        view = plan_view(session, ViewRequest(("dedupe-reads", later), options))
        for decision in view.decisions.values():
            if decision.act is Act.SAME:
                assert decision.same_as not in view.decisions
        hold_prefixes(session, ViewRequest(("dedupe-reads", "transparent"), ViewOptions(step=2)))

    def test_the_last_turn_keeps_its_result_though_an_equal_one_moves(self) -> None:
        session = pi_session(3, result="the same each time, and long enough to be worth a marker\n" * 40)
        cut = session[: session.rindex(b'{"type": "message"')]
        view = plan_view(cut, ViewRequest(("dedupe-reads", "transparent"), ViewOptions(step=1)))
        assert view.transcript.open_turn is not None
        last = [part for part in view.transcript.parts if part.kind is PartKind.RESULT][-1]
        assert last.index not in view.decisions


class TestThinkingAlone:
    def test_a_reply_of_nothing_else_stays(self) -> None:
        thinking = {"type": "thinking", "thinking": "hm " * 300, "signature": "c2lnbmF0dXJl" * 20}
        alone = json.dumps(
            {
                "type": "assistant",
                "uuid": "a1",
                "parentUuid": None,
                "sessionId": "s",
                "message": {"id": "m1", "role": "assistant", "content": [thinking]},
            }
        )
        said = [
            json.dumps(
                {
                    "type": kind,
                    "uuid": f"{kind}{n}",
                    "sessionId": "s",
                    "parentUuid": None,
                    "message": {"id": f"m{kind}{n}", "role": kind, "content": f"{kind} says {n}"},
                }
            )
            for n in range(4)
            for kind in ("user", "assistant")
        ]
        session = "\n".join([said[0], alone, *said[1:]]).encode()
        view = plan_view(session, STEP_ONE)
        assert view.to_bytes() == session

    def test_a_list_is_not_left_empty_where_the_api_refuses_one(self) -> None:
        thinking = {"type": "thinking", "thinking": "hm " * 300, "signature": "c2lnbmF0dXJl" * 20}
        messages = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [thinking]},
            {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        ]
        messages += [
            {"role": role, "content": f"{role} {n}"} for n in range(3) for role in ("user", "assistant")
        ]
        body = json.dumps(
            {"model": "claude-x", "system": "be kind", "max_tokens": 9, "messages": messages}
        ).encode()
        view = plan_view(body, ViewRequest(options=ViewOptions(step=1, mark_thinking=False)))
        assert all(each["content"] for each in json.loads(view.to_bytes())["messages"])
        new, _ = check_view(view)
        assert new == []


class TestDocumentsThatBeginWithAView:
    def test_a_folded_one_is_known_as_a_whole(self, store: Store) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE).to_bytes()
        tail = json.dumps({"rows": "y" * 9000}).encode() + b"\n"
        folded = fold_bytes(store, view + tail, FoldPolicy())
        assert folded.startswith(view)
        assert folded != view + tail
        assert unfold_bytes(store, folded) == view + tail

    def test_a_reference_after_a_view_is_refused_if_nobody_knows_it(self, store: Store) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE).to_bytes()
        reference = fold_bytes(store, json.dumps({"rows": "y" * 9000}).encode(), FoldPolicy())
        with pytest.raises(UnfoldMismatch, match="reference stands after"):
            unfold_bytes(store, view + reference)

    def test_a_folded_document_is_no_session(self, store: Store) -> None:
        folded = fold_bytes(store, pi_session(5), FoldPolicy(bytes_over=200))
        with pytest.raises(SessionInvalid, match="folded document"):
            make_view(folded, StoreHandle.of(store), STEP_ONE)

    def test_a_session_that_nothing_left_is_viewed_in_another_way(self, store: Store) -> None:
        session = pi_session(4).replace(b'{"command": "make 0"}', b'{"$ctx": {"kind": "text"}, "$$ctx": 1}')
        first = make_view(session, StoreHandle.of(store), ViewRequest())
        assert first.to_bytes() == session
        second = make_view(session, StoreHandle.of(store), STEP_ONE)
        assert second.to_bytes() != session
        assert unfold_bytes(store, second.to_bytes()) == session
        assert unfold_bytes(store, session) == session


class TestBudgets:
    def test_the_first_step_that_fits_is_taken(self) -> None:
        session = pi_session(30)
        sizes = []
        for limit in (len(session), 50_000, 36_000, 33_000):
            view = plan_view(session, ViewRequest(budget=Budget(limit)))
            assert view.rendered.size <= limit
            assert view.prose_is_complete
            sizes.append(view.rendered.size)
        assert sizes == sorted(sizes, reverse=True)
        assert plan_view(session, ViewRequest(budget=Budget(len(session)))).taken == ("transparent@2",)

    def test_prose_leaves_only_if_allowed(self) -> None:
        session = pi_session(30).replace(b"please say how it went", b"please say how it went, " * 40)
        with pytest.raises(LimitExceeded, match="the budget is"):
            plan_view(session, ViewRequest(budget=Budget(36_000)))
        view = plan_view(session, ViewRequest(budget=Budget(36_000), allow_prose=True))
        assert view.rendered.size <= 36_000
        assert not view.prose_is_complete

    @pytest.mark.parametrize("text", ["", "x", "-1", "0", "3 apples", "1e9", "k", "10k-pages"])
    def test_what_is_no_budget_is_refused(self, text: str) -> None:
        with pytest.raises(InvalidOption):
            Budget.parse(text)


class TestMaxProse:
    def test_the_oldest_parts_leave_whole_until_it_fits(self) -> None:
        session = pi_session(30).replace(b"please say how it went", b"please say how it went, " * 40)
        view = plan_view(session, ViewRequest(options=ViewOptions(step=1, max_prose=5_000)))
        shown = transcript_of(view.to_bytes())
        stands = [shown.literal(part) for part in shown.parts_of(PartKind.PROSE)]
        assert sum(len(each) - 2 for each in stands if not each.startswith(b'"[ctx ')) <= 5_000
        gone = [
            each.startswith(b'"[ctx ') for each in stands if len(each) > 240 or each.startswith(b'"[ctx ')
        ]
        assert gone == sorted(gone, reverse=True), "the oldest go first"


class TestVerify:
    def test_a_whole_view_has_no_findings_and_a_damaged_one_has(self, store: Store, fast_path: Path) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE)
        file = fast_path / "view.jsonl"
        file.write_bytes(view.to_bytes() + b'{"tail": 1}\n')
        handle = StoreHandle.of(store)
        assert list(verify_files([str(file)], handle)) == []
        digest = view.rendered.splices[1].descriptor.digest
        stored = fast_path / "store" / "objects" / digest.hex[:2] / digest.hex
        stored.chmod(0o600)
        stored.unlink()
        for quick in (False, True):
            findings = list(verify_files([str(file)], handle, quick=quick))
            assert [(each.name, each.digest) for each in findings] == [(FindingName.MISSING, digest)]


class TestErrorsSayWhatIsMissing:
    def test_an_object_that_is_gone(self, store: Store, fast_path: Path) -> None:
        view = make_view(pi_session(5), StoreHandle.of(store), STEP_ONE)
        digest = view.rendered.splices[0].descriptor.digest
        file = fast_path / "store" / "objects" / digest.hex[:2] / digest.hex
        file.chmod(0o600)
        file.unlink()
        with pytest.raises(ObjectMissing):
            unfold_bytes(store, view.to_bytes())
