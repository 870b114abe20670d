"""Differences and arguments without effect are said where they apply."""

import json

import pytest

from frontends.tf.check import facts
from frontends.tf.check.findings import Kind
from frontends.tf.check.names import find
from frontends.tf.check.uses import uses_in
from tests import check_facts


def found(text, kind=None):
    script = uses_in(f"import tensorflow as tf\n{text}")
    every = [one for use in script.uses for one in facts.findings_of(use)]
    return [(one.name, one.text) for one in every if kind in (None, one.kind)]


def test_what_is_shipped_is_up_to_date():
    recorded = (check_facts.FOLDER / "differences.json").read_text()
    made = check_facts.text(check_facts.stated_differences())
    assert recorded == made, "write it: python -m tests.check_facts"


def test_differences_are_of_names_that_exist():
    stated = json.loads((check_facts.FOLDER / "differences.json").read_text())
    uses = [use for one in stated["differences"] for use in one["uses"]]
    assert uses
    for use in uses:
        assert not find(use.partition("(")[0]).is_missing, use


def test_a_note_of_a_base_class_is_one_of_its_subclasses():
    text = "s = tf.distribute.MirroredStrategy()\ns.run(f)"
    ((name, note),) = found(text, Kind.DIFFERS)
    assert name == "tf.distribute.MirroredStrategy.run"
    assert "traces the function once" in note
    assert found("tf.distribute.TPUStrategy(r).run(f)", Kind.DIFFERS)


def test_a_note_of_a_name():
    assert found("tf.distribute.RunOptions()", Kind.DIFFERS)
    ((_, text),) = found("tf.cast(x, tf.int64)", Kind.DIFFERS)
    assert "32 bits" in text
    assert found("tf.cast(x, tf.int32)") == []


def test_a_difference_that_depends_on_arguments():
    assert found("tf.nn.compute_average_loss(x)", Kind.DIFFERS)
    assert found("tf.nn.compute_average_loss(x, global_batch_size=3)", Kind.DIFFERS) == []
    assert found("tf.nn.compute_average_loss", Kind.DIFFERS) == []
    assert found("tf.distribute.MirroredStrategy()", Kind.DIFFERS) == []
    assert found("tf.distribute.MirroredStrategy(['/gpu:0'])", Kind.DIFFERS)


def test_why_a_method_will_not_come():
    text = "s = tf.distribute.MirroredStrategy()\ntf.distribute.Strategy.configure(s)"
    ((name, why),) = found(text, Kind.MISSING)
    assert name == "tf.distribute.Strategy.configure"
    assert "sessions do not exist" in why


@pytest.mark.parametrize(
    ("call", "parameters"),
    [
        ("tf.Variable(1, False)", []),
        ("tf.Variable(1, caching_device='a', name='b')", ["caching_device"]),
        ("tf.Variable(1).assign(2, True)", ["use_locking"]),
        ("tf.Variable(1).assign(2, use_locking=False)", []),  # it is the default
        ("tf.data.Dataset.range(3).map(f, 4, False)", ["deterministic"]),
        ("tf.argsort(x, stable=True)", ["stable"]),
        ("tf.function(f, jit_compile=True)", ["jit_compile"]),
        ("tf.cast(*args)", []),
    ],
)
def test_arguments_without_effect(call, parameters):
    said = [text for _, text in found(call, Kind.NO_EFFECT)]
    assert [text.partition("=")[0] for text in said] == parameters


def test_options_without_effect():
    assert found("tf.config.optimizer.set_jit(True)", Kind.NO_EFFECT) == [
        (
            "tf.config.optimizer.set_jit",
            "changes nothing here: XLA compiles and optimizes every program",
        )
    ]


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("tf.distribute.NcclAllReduce", "num_packs=2"),
        ("tf.distribute.ReductionToOneDevice", ""),
        ("tf.distribute.RunOptions", ""),
        ("tf.distribute.InputOptions", "experimental_fetch_to_device=x"),
        ("tf.distribute.InputOptions", "experimental_replication_mode=x"),
    ],
)
def test_what_a_note_says_is_said_once(name, parameters):
    ((_, text),) = found(f"{name}({parameters})")
    assert "changes nothing" in text or "only `experimental_replication_mode` changes" in text


def test_an_accepted_name_either_has_a_note_or_a_reason():
    whole = [name for one in facts.ACCEPTED if not one.parameters for name in one.names]
    assert whole
    for name in whole:
        assert len(found(f"{name}()")) == 1, name
