//! A verb on its way to the writer and back: handed over, run once or again, answered when its group is
//! on disk. A caller that waits too long gives up only what the writer has not taken.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use crate::store::error::{Error, Unavailable};
use crate::store::sqlite::progress::Progress;
use crate::store::sqlite::statement::Tx;

/// A caller gives up a verb that the writer has not taken up by then.
pub(in crate::store) const ANSWER_WAIT_MAX: Duration = Duration::from_secs(30);

/// A verb on its way through the writer.
pub(in crate::store) trait Command: Send {
    /// Runs it, again when its group is run again, and keeps its result.
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure>;

    /// Answers the caller: with the kept result, or with why the group did not commit.
    fn answer(self: Box<Self>, group: Result<(), Unavailable>);
}

/// A verb failed, so what it wrote must be rolled back.
pub(in crate::store) enum Failure {
    /// Only the verb; because the store could not do it, when that is why.
    Verb(Option<Unavailable>),
    /// The disk.
    Fatal(Error),
}

struct Call<T, F> {
    progress: Arc<Progress>,
    verb: F,
    result: Option<Result<T, Error>>,
    reply: SyncSender<Result<T, Error>>,
}

impl<T, F> Command for Call<T, F>
where
    T: Send,
    F: Fn(&mut Tx<'_>) -> Result<T, Error> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        // The caller was told that this did not happen, so it must not happen now.
        if !self.progress.take() {
            return Ok(());
        }
        let result =
            // A panic would end the only writer; what the verb left half done is rolled back.
            catch_unwind(AssertUnwindSafe(|| (self.verb)(tx))).unwrap_or(Err(Error::Panicked));
        match result {
            // Not kept as the result: after a failing disk no verb of the group is answered.
            Err(fatal @ Error::Fatal(_)) => Err(Failure::Fatal(fatal)),
            other => {
                let failure = other.as_ref().err().map(|error| match error {
                    Error::Unavailable(reason) => Failure::Verb(Some(*reason)),
                    _ => Failure::Verb(None),
                });
                self.result = Some(other);
                failure.map_or(Ok(()), Err)
            }
        }
    }

    fn answer(self: Box<Self>, group: Result<(), Unavailable>) {
        let answer = match (group, self.result) {
            (Ok(()), Some(result)) => result,
            (Err(reason), Some(Ok(_)) | None) => Err(Error::Unavailable(reason)),
            (Err(_), Some(own)) => own,
            (Ok(()), None) => Err(Error::Unavailable(Unavailable::Closed)),
        };
        // A caller that stopped waiting gets no answer; what it asked for has happened.
        drop(self.reply.send(answer));
    }
}

/// Makes of a verb what the writer runs, and what its caller waits for.
pub(in crate::store) fn call<T: Send + 'static>(
    verb: impl Fn(&mut Tx<'_>) -> Result<T, Error> + Send + 'static,
) -> (Box<dyn Command>, Waiting<T>) {
    // Room for one, so that the writer never blocks on a caller that is slow or gone.
    let (reply, answer) = sync_channel(1);
    // Shared with the caller: a timeout and the start of the verb race, and exactly one of them may win.
    let progress = Arc::new(Progress::default());
    let call = Call { progress: Arc::clone(&progress), verb, result: None, reply };
    (Box::new(call), Waiting { answer, progress })
}

/// A verb that was handed over and not waited for yet.
#[must_use]
pub struct Pending<T>(pub(in crate::store) Result<Waiting<T>, Unavailable>);

pub(in crate::store) struct Waiting<T> {
    answer: Receiver<Result<T, Error>>,
    progress: Arc<Progress>,
}

impl<T> Pending<T> {
    /// Returns the answer if it is there: for a caller that has waited for the end of the writer.
    ///
    /// # Errors
    /// The verb's own, or [`Error::Unavailable`] when it is not known to be on disk.
    pub fn now(self) -> Result<T, Error> {
        let Waiting { answer, .. } = self.0.map_err(Error::Unavailable)?;
        answer.try_recv().unwrap_or(Err(Error::Unavailable(Unavailable::Closed)))
    }

    /// Waits until the verb is on disk, or did not happen.
    ///
    /// # Errors
    /// The verb's own, or [`Error::Unavailable`] when its group did not commit.
    pub fn wait(self) -> Result<T, Error> {
        let Waiting { answer, progress } = self.0.map_err(Error::Unavailable)?;
        match answer.recv_timeout(ANSWER_WAIT_MAX) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) if progress.give_up() => {
                Err(Error::Unavailable(Unavailable::Overloaded))
            }
            // It is being carried out; whether it is on disk is known only once it is answered.
            Err(_) => answer.recv().unwrap_or(Err(Error::Unavailable(Unavailable::Closed))),
        }
    }
}
