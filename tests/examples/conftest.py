"""Examples compile as users' programs do: they compute for longer than they compile."""

import pytest


@pytest.fixture
def fresh_environment(fresh_environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in fresh_environment.items() if name != "XLA_FLAGS"}
