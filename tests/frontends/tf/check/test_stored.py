"""Attributes that methods store."""

from frontends.tf.check.stored import attributes, own_attributes


class Base:
    declared: int

    def __init__(self):
        self.first = self.second = 1


class Derived(Base):
    def method(self, other):
        self.third, other.fourth = 1, 2


def test_attributes_of_a_class_and_its_bases():
    assert own_attributes(Derived) == {"third"}
    assert attributes(Derived) == {"declared", "first", "second", "third"}


def test_a_class_without_source_has_none():
    assert attributes(int) == frozenset()
