"""Where in its script a process is."""

import gc
import sys
import threading
import weakref

from spmd.cluster import script_position

SCRIPT = """
def train(save):
    return save()

seen = train(save)
"""


def save():
    return script_position.of(sys._getframe())


def _wrapped():
    return (lambda: save())()


def test_a_line_of_the_script_and_what_it_called():
    scope = {"__name__": "__main__", "save": _wrapped}
    exec(compile(SCRIPT, "/some/where/script.py", "exec"), scope)
    assert scope["seen"] == "save (script.py:3)"


def test_a_line_of_the_script_alone():
    scope = {"__name__": "__main__", "sys": sys}
    exec(compile("frame = sys._getframe()", "script.py", "exec"), scope)
    assert script_position.of(scope["frame"]) == "script.py:1"


def test_without_a_script():
    assert script_position.of(None) == ""


def test_it_is_the_main_thread_that_counts(run_python):
    run_python(
        "-c",
        "import threading\n"
        "from spmd.cluster import script_position\n"
        "over, seen = threading.Event(), []\n"
        "def look():\n"
        "    while 'Event.wait' not in script_position.of_main_thread():\n"
        "        pass\n"
        "    seen.append(script_position.of_main_thread())\n"
        "    over.set()\n"
        "threading.Thread(target=look).start()\n"
        "over.wait(100)\n"
        "assert seen == ['Event.wait (<string>:10)'], seen\n",
    )


def test_a_look_keeps_nothing_that_the_main_thread_holds():
    class Large:
        pass

    def hold():
        held = Large()
        thread = threading.Thread(target=script_position.of_main_thread)
        thread.start()
        thread.join()
        return weakref.ref(held)

    gc.collect()
    gc.disable()
    try:
        assert hold()() is None
    finally:
        gc.enable()
