//! One line on the terminal that says what a long run is at: the stage, what it has done, how fast, and for how long. Where standard
//! error is no terminal there is none.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use rustix::termios::tcgetwinsize;

use crate::check::Stage;
use crate::tally::{Count, Tally};

/// How often the line is drawn anew.
const TICK: Duration = Duration::from_millis(100);

/// The line of one stage, gone when this is dropped.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn begin(stage: Stage, tally: Arc<Tally>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // A terminal that cannot go back to the line's beginning would keep every drawing of it.
        if std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let line = move |state: &ProgressState, text: &mut dyn Write| {
            let _ = write!(text, "{:<11}  {}", stage.name(), done(stage, &tally, state.elapsed()));
        };
        let columns = tcgetwinsize(std::io::stderr()).map_or(0, |size| size.ws_col);
        // Beside the spinner and its blank; a terminal that does not know its width is taken for an ordinary one.
        let room = if columns == 0 { 78 } else { columns.saturating_sub(2).max(1) };
        if let Ok(style) = ProgressStyle::with_template(&format!("{{spinner}} {{line:{room}!}}")) {
            bar.set_style(style.with_key("line", line));
        }
        bar.enable_steady_tick(TICK);
        Progress(bar)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// What a stage counts, in words.
fn counted(stage: Stage, tally: &Tally) -> Option<(&Count, &'static str)> {
    match stage {
        Stage::Graph => Some((&tally.objects, "objects")),
        Stage::Inventory => Some((&tally.compared, "files")),
        Stage::Snapshot => Some((&tally.copied, "files")),
        Stage::Environment => Some((&tally.installed, "files")),
        Stage::Behaviour => Some((&tally.vectors, "answers")),
        // Its scenarios run at once, most of them waiting.
        Stage::Pair => None,
        Stage::Tools => Some((&tally.calls, "calls")),
    }
}

fn done(stage: Stage, tally: &Tally, elapsed: Duration) -> String {
    let time = format!("{}:{:02}", elapsed.as_secs() / 60, elapsed.as_secs() % 60);
    match counted(stage, tally).map(|(count, what)| (count.get(), what)) {
        Some((count @ 1.., what)) => {
            let rate = (count as f64 / elapsed.as_secs_f64().max(0.001)) as u64;
            format!("{} {what}, {}/s, {time}", HumanCount(count), HumanCount(rate))
        }
        _ => time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_tells_what_it_has_done_and_how_fast() {
        let tally = Tally::default();
        let after = Duration::from_millis(61_500);
        assert_eq!(done(Stage::Graph, &tally, after), "1:01");
        tally.objects.add(1_230_000);
        tally.vectors.add(123);
        assert_eq!(done(Stage::Graph, &tally, after), "1,230,000 objects, 20,000/s, 1:01");
        assert_eq!(done(Stage::Behaviour, &tally, after), "123 answers, 2/s, 1:01");
        assert_eq!(done(Stage::Pair, &tally, after), "1:01");
    }
}
