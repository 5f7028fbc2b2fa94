"""What a kill left outside a store is swept after a day, and nothing that is not exactly that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from castore.gc.sweep import sweep
from castore.store import Store
from tests.cli.conftest import Shell, ctx, shell  # noqa: F401 - fixtures
from tests.store.conftest import Clock

DAY = 86_400
LEFT = "s.new-0123456789ab"


def age(path: Path, seconds: float, now: float | None = None) -> None:
    then = (path.stat().st_mtime if now is None else now) - seconds
    os.utime(path, (then, then), follow_symlinks=False)


def unfinished(folder: Path, name: str = LEFT, *, seconds: float = 2 * DAY, now: float | None = None) -> Path:
    """A store that was never given its name."""
    left = Store.init(folder / "made").folder
    os.rename(left, folder / name)
    age(folder / name, seconds, now)
    return folder / name


class TestUnfinishedStore:
    def test_goes_when_the_store_is_made(self, tmp_path: Path) -> None:
        left = unfinished(tmp_path)
        Store.init(tmp_path / "s").close()
        assert not left.exists()
        assert Store.open(tmp_path / "s").scopes()

    def test_goes_with_gc(self, tmp_path: Path, store: Store, clock: Clock) -> None:
        left = unfinished(tmp_path, now=clock.now)
        (tmp_path / "empty").mkdir()
        half = tmp_path / "s.new-ba9876543210"
        (half / "objects").mkdir(parents=True)
        age(half, 2 * DAY, clock.now)
        sweep(store)
        assert not left.exists()
        assert not half.exists()
        assert (tmp_path / "empty").is_dir()

    @pytest.mark.parametrize(
        "name",
        ["s.new-0123456789a", "s.new-0123456789abc", "s.new-0123456789aB", "t.new-0123456789ab", "s.new-"],
    )
    def test_another_name_stays(self, tmp_path: Path, name: str) -> None:
        left = unfinished(tmp_path, name)
        Store.init(tmp_path / "s").close()
        assert (left / "format").is_file()

    def test_one_that_may_still_be_made_stays(self, tmp_path: Path) -> None:
        left = unfinished(tmp_path, seconds=DAY - 60)
        Store.init(tmp_path / "s").close()
        assert (left / "format").is_file()

    def test_with_anything_else_in_it_it_stays_whole(self, tmp_path: Path) -> None:
        left = unfinished(tmp_path)
        (left / "notes.txt").write_text("mine")
        age(left, 2 * DAY)
        Store.init(tmp_path / "s").close()
        assert sorted(os.listdir(left)) == sorted(
            ["notes.txt", "format", "config.toml", ".gitignore", "objects", "roots", "tmp"]
        )

    def test_what_is_in_its_folders_stays(self, tmp_path: Path) -> None:
        left = unfinished(tmp_path)
        (left / "objects" / "mine").write_text("mine")
        age(left, 2 * DAY)
        Store.init(tmp_path / "s").close()
        assert (left / "objects" / "mine").read_text() == "mine"

    def test_a_link_is_not_followed(self, tmp_path: Path) -> None:
        real = unfinished(tmp_path, "elsewhere")
        (tmp_path / LEFT).symlink_to(real)
        age(tmp_path / LEFT, 0)
        os.utime(tmp_path / LEFT, (1, 1), follow_symlinks=False)
        Store.init(tmp_path / "s").close()
        assert (real / "format").is_file()
        assert (tmp_path / LEFT).is_symlink()


class TestUnfinishedOut:
    """Beside OUT of `-o`: files of exactly the name that OUT is written under."""

    def left(self, ctx: Shell, name: str, seconds: float = 2 * DAY) -> Path:  # noqa: F811
        path = ctx.folder / name
        path.write_bytes(b"half")
        age(path, seconds)
        return path

    def test_goes_with_the_next_write_of_the_same_out(self, ctx: Shell) -> None:  # noqa: F811
        left = self.left(ctx, "out.json.4321-0a1b2c3d.tmp")
        assert ctx("fold", "in.json", "-o", "other.json").code == 0
        assert left.exists()
        assert ctx("fold", "in.json", "-o", "out.json").code == 0
        assert not left.exists()
        assert ctx("unfold", "out.json").code == 0

    def test_all_else_stays(self, ctx: Shell) -> None:  # noqa: F811
        names = [
            "out.json.tmp",
            "out.json.0-0a1b2c3d.tmp",
            "out.json.1-0a1b2c3.tmp",
            "out.json.1-0a1b2c3d.tmp~",
        ]
        names += ["aout.json.1-0a1b2c3d.tmp", "outxjson.1-0a1b2c3d.tmp", "out.json.1-0A1B2C3D.tmp"]
        kept = [self.left(ctx, name) for name in names]
        kept.append(self.left(ctx, "out.json.2-0a1b2c3d.tmp", DAY - 60))
        kept.append(self.left(ctx, "out.json.3-0a1b2c3d.tmp"))
        os.link(kept[-1], ctx.folder / "second name")
        kept.append(ctx.folder / "out.json.4-0a1b2c3d.tmp")
        kept[-1].mkdir()
        age(kept[-1], 2 * DAY)
        kept.append(ctx.folder / "out.json.5-0a1b2c3d.tmp")
        kept[-1].symlink_to("in.json")
        os.utime(kept[-1], (1, 1), follow_symlinks=False)
        assert ctx("fold", "in.json", "-o", "out.json").code == 0
        assert [path for path in kept if not os.path.lexists(path)] == []

    @pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away takes root")
    def test_anothers_stays(self, ctx: Shell) -> None:  # noqa: F811
        left = self.left(ctx, "out.json.4321-0a1b2c3d.tmp")
        os.chown(left, 65534, 65534)
        age(left, 0)
        assert ctx("fold", "in.json", "-o", "out.json").code == 0
        assert left.exists()
