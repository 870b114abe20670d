"""What is called around steps."""

from frontends import tf


def test_a_hook_that_overrides_nothing_wants_nothing():
    hook = tf.estimator.SessionRunHook()
    context = tf.estimator.SessionRunContext(tf.estimator.SessionRunArgs("loss"), None)
    hook.begin()
    hook.after_create_session(None, None)
    assert hook.before_run(context) is None
    hook.after_run(context, tf.estimator.SessionRunValues(None))
    hook.end(None)
    assert not context.stop_requested
    context.request_stop()
    assert context.stop_requested
