//! What is left to play with: dead letters that can be replayed.

use super::Teller;
use super::queries::letters;
use crate::demo::stage::Stage;
use crate::demo::{self, Print};
use crate::simulator;

/// Dead letters in the beginning.
const LETTERS: usize = 3;

/// Leaves dead letters to play with.
pub(in crate::demo) fn begin(stage: &mut Stage, print: Print<'_>) -> Result<(), demo::Error> {
    let mut teller = Teller { stage, print };
    teller.say(&format!("Here are {LETTERS} dead letters to play with. The forge refuses the dispatches of {LETTERS} more tags:"))?;
    (0..LETTERS).try_for_each(|number| teller.one_more(number))
}

/// Makes one more of them.
pub(in crate::demo) fn one_more(
    stage: &mut Stage,
    print: Print<'_>,
    number: usize,
) -> Result<(), demo::Error> {
    Teller { stage, print }.one_more(LETTERS + number)
}

impl Teller<'_> {
    fn one_more(&mut self, number: usize) -> Result<(), demo::Error> {
        let newest = |stage: &Stage| -> Result<_, demo::Error> {
            Ok(letters(stage)?.first().map(|letter| letter.item_id.clone()))
        };
        let before = newest(self.stage)?;
        let (tag, commit) = (format!("v2.{number}.0"), format!("{:040x}", 0xc0de_0000 + number));
        // For this tag: a replay meanwhile must not meet the refusal.
        self.stage.forge.plan_dispatch(&tag, simulator::Fault::Validation422);
        let webhook = self.stage.webhooks.push_tag(&tag, &commit);
        self.deliver(&format!("push {tag}"), &webhook)?;
        self.wait("a dead letter", |stage| Ok((newest(stage)? != before).then_some(())))
    }
}
