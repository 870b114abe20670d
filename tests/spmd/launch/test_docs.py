"""The manifests that docs/tfjob.md shows are what the command that it shows writes."""

import re
import shlex
import textwrap
from pathlib import Path

import pytest

from spmd import cli
from tests.spmd.launch.schemas import check_jobset, check_tfjob, read

PAGE = (Path(__file__).parents[3] / "docs" / "tfjob.md").read_text()
YOURS, TFJOB, JOBSET = (
    textwrap.dedent(block)
    for block in re.findall(r"^    ```yaml\n(.*?)^    ```", PAGE, re.DOTALL | re.MULTILINE)
)
COMMAND = re.search(r"^\$ jaxtribute (launch .*?)\n```", PAGE, re.DOTALL | re.MULTILINE)[1]


@pytest.mark.parametrize(("kind", "shown"), [("tfjob", TFJOB), ("jobset", JOBSET)])
def test_the_page_shows_what_the_command_writes(
    kind: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(COMMAND.replace("\\\n", " ").replace("--render tfjob", f"--render {kind}"))
    assert cli.main(words) == 0
    written = re.sub(r"(auth_token: )[0-9a-f]{64}\n", r"\1SECRET\n", capsys.readouterr().out)
    assert written == shown


def test_what_it_shows_is_what_the_schemas_say() -> None:
    for manifest in (*read(YOURS), read(TFJOB)[-1]):
        check_tfjob(manifest)
    check_jobset(read(JOBSET)[-1])
