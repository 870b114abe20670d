"""The tool that writes what `jaxtribute check` knows."""

import json

from tests import check_facts


def test_facts_are_written_and_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(check_facts, "FOLDER", tmp_path)
    monkeypatch.setattr(check_facts, "FILES", {"a.json": lambda: {"b": ["ü"]}})
    assert check_facts.main([]) == 0
    assert json.loads((tmp_path / "a.json").read_text()) == {"b": ["ü"]}
    assert check_facts.main(["--check"]) == 0
    (tmp_path / "a.json").write_text("{}")
    assert check_facts.main(["--check"]) == 1


def test_only_differences_of_uses_are_gathered():
    stated = check_facts.stated_differences()
    assert "tf.distribute.Strategy.run" in stated["notes"]
    assert all(one["uses"] and one["title"] and one["why"] for one in stated["differences"])
