"""What hooks and supervisors write: checkpoints, summaries, events. With a real TF 1.15:

PYTHONPATH=../.. TF=tensorflow python record.py > runs.json.gz
"""

import os
import shutil
import tempfile

import numpy as np

from data.sessions.record import counter
from recording import main, outcome


def listener_of(tf, said, name, stops_at=None):
    class Listener(tf.train.CheckpointSaverListener):
        def begin(self):
            said.append(name + ".begin")

        def before_save(self, session, global_step_value):
            said.append("%s.before_save %d" % (name, global_step_value))

        def after_save(self, session, global_step_value):
            said.append("%s.after_save %d" % (name, global_step_value))
            return stops_at is not None and global_step_value >= stops_at

        def end(self, session, global_step_value):
            said.append("%s.end %d" % (name, global_step_value))

    return Listener()


def files_in(directory):
    """Names of files; those of events without what differs from run to run."""
    return sorted(name.split(".out.")[0] for name in os.listdir(directory))


def events_in(tf, directory):
    """What the event files of a directory tell, without what differs from run to run."""
    for name in sorted(n for n in os.listdir(directory) if n.startswith("events")):
        for event in tf.train.summary_iterator(os.path.join(directory, name)):
            what = event.WhichOneof("what")
            if what == "summary":
                values = [
                    (v.tag, "" if v.tag.endswith("/sec") else v.simple_value)
                    for v in event.summary.value
                ]
                yield "%d %s" % (event.step, values)
            elif what == "session_log":
                log = event.session_log
                yield "%d %d %s" % (event.step, log.status, os.path.basename(log.checkpoint_path))
            else:
                yield "%d %s" % (event.step, what)


def saving(tf):
    """Checkpoints every two steps and at the end; a second session goes on from there."""
    where = tempfile.mkdtemp()
    v, step, train = counter(tf)
    tf.summary.scalar("level", tf.placeholder_with_default(np.float32(3), []))
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=where,
        save_checkpoint_steps=2,
        save_summaries_steps=2,
        log_step_count_steps=2,
    ) as sess:
        for _ in range(5):
            sess.run(train)
    yield os.path.basename(tf.train.latest_checkpoint(where))
    yield files_in(where)
    yield from events_in(tf, where)
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=where, save_summaries_steps=None, log_step_count_steps=None
    ) as sess:
        yield [float(x) for x in sess.run([step, v])]
    with tf.train.SingularMonitoredSession(
        checkpoint_filename_with_path=where + "/model.ckpt-2"
    ) as s:
        yield [float(x) for x in s.raw_session().run([step, v])]
    shutil.rmtree(where)


def listening(tf):
    said, where = [], tempfile.mkdtemp()
    v, step, train = counter(tf)
    hook = tf.train.CheckpointSaverHook
    listeners = [listener_of(tf, said, "a"), listener_of(tf, said, "b", stops_at=4)]
    scaffold = tf.train.Scaffold()
    saving = hook(
        where, save_steps=2, scaffold=scaffold, listeners=listeners, checkpoint_basename="m"
    )
    with tf.train.MonitoredTrainingSession(scaffold=scaffold, hooks=[saving]) as sess:
        while not sess.should_stop():
            said.append(str(sess.run(train)))
    yield from said
    yield os.path.basename(tf.train.latest_checkpoint(where))
    yield outcome(lambda: hook(where, save_steps=1, saver=1, scaffold=scaffold))
    yield outcome(lambda: hook(where))
    yield outcome(lambda: hook(where, save_steps=1, save_secs=1))
    with tf.Graph().as_default():
        none = hook(where, save_steps=1)
        yield outcome(none.begin)
        tf.train.get_or_create_global_step()
        yield outcome(none._get_saver)
        for _ in range(2):
            tf.add_to_collection(tf.GraphKeys.SAVERS, 1)
        yield outcome(none._get_saver)
    shutil.rmtree(where)


def summaries(tf):
    where = tempfile.mkdtemp()
    v, step, train = counter(tf)
    x = tf.placeholder_with_default(np.float32(1), [])
    one, two = tf.summary.scalar("one", x), tf.summary.scalar("two", x * 2)
    hook = tf.train.SummarySaverHook
    hooks = [
        hook(save_steps=2, output_dir=where, summary_op=[one, two]),
        hook(save_steps=3, summary_writer=tf.summary.FileWriterCache.get(where), summary_op=one),
        tf.train.StepCounterHook(every_n_steps=2, output_dir=where),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        for k in range(5):
            sess.run(train, {x: k})
    yield from events_in(tf, where)
    yield outcome(lambda: hook(save_steps=1, output_dir=where))
    yield outcome(lambda: hook(save_steps=1, scaffold=tf.train.Scaffold(), summary_op=one))
    yield outcome(lambda: tf.train.StepCounterHook(every_n_secs=1))
    shutil.rmtree(where)


def supervised_saving(tf):
    where = tempfile.mkdtemp()
    v, step, train = counter(tf)
    one = tf.summary.scalar("one", tf.constant(1.0))
    sv = tf.train.Supervisor(logdir=where, save_model_secs=1000, save_summaries_secs=1000)
    yield "%s %s" % (os.path.basename(sv.save_path), sv.summary_op.name)
    with sv.managed_session(start_standard_services=False) as sess:
        yield sess.run(train)
        sv.summary_computed(sess, sess.run(one))
        sv.saver.save(sess, sv.save_path, global_step=sv.global_step)
    yield [n for n in files_in(where) if not n.startswith("event")]
    yield from events_in(tf, where)
    with sv.managed_session(start_standard_services=False) as sess:
        yield [float(x) for x in sess.run([step, v])]
    shutil.rmtree(where)


PROGRAMS = {p.__name__: p for p in (saving, listening, summaries, supervised_saving)}

if __name__ == "__main__":
    main(PROGRAMS)
