use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::draw::draw;
use super::model::Model;
use crate::dev::board::Board;
use crate::dev::reconciled::Reconciled;
use crate::error::Error;

const POLL: Duration = Duration::from_millis(100);

/// The terminal as one screen; dropped, it is as it was before.
pub(in crate::dev) struct Screen {
    terminal: DefaultTerminal,
    model: Model,
    /// Keys that ask for an end, and new sizes; the oldest wait when nobody reads them.
    wishes: mpsc::Receiver<Wish>,
    stop: CancellationToken,
    /// Reads the keyboard until `stop`.
    _keyboard: JoinSet<()>,
}

/// What somebody at the terminal wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Quit,
    DrawAnew,
}

impl Screen {
    /// Takes the terminal.
    pub(in crate::dev) fn open(title: String, kubectl: String) -> Result<Self, Error> {
        let terminal = ratatui::try_init().map_err(|source| Error::Terminal { source })?;
        let (told, wishes) = mpsc::channel(16);
        let stop = CancellationToken::new();
        let mut keyboard = JoinSet::new();
        let stopped = stop.clone();
        keyboard.spawn_blocking(move || read_keyboard(&told, &stopped));
        let mut screen = Self {
            terminal,
            model: Model {
                title,
                kubectl,
                ..Model::default()
            },
            wishes,
            stop,
            _keyboard: keyboard,
        };
        screen.draw();
        Ok(screen)
    }

    pub(super) fn log(&mut self, line: &str) {
        self.model.log(line);
        self.draw();
    }

    pub(super) fn reconciled(&mut self, reconciled: &Reconciled) {
        self.model.reconciled(reconciled);
        self.draw();
    }

    pub(super) fn state(&mut self, state: &str) {
        state.clone_into(&mut self.model.state);
        self.draw();
    }

    pub(super) fn board(&mut self, board: Board) {
        if self.model.board != board {
            self.model.board = board;
            self.draw();
        }
    }

    /// Waits until somebody wants to end it.
    ///
    /// # Cancel safety
    ///
    /// Safe: a key that comes later is seen by the next call.
    pub(super) async fn quit(&mut self) {
        // None comes when the keyboard is closed, as at a hangup.
        while let Some(Wish::DrawAnew) = self.wishes.recv().await {
            self.draw();
        }
    }

    /// A terminal that takes no more is about to go, and a signal says so.
    fn draw(&mut self) {
        let model = &self.model;
        self.terminal.draw(|frame| draw(frame, model)).ok();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.stop.cancel();
        ratatui::restore();
    }
}

/// Runs on a thread of its own until it is stopped or the terminal is gone.
fn read_keyboard(told: &mpsc::Sender<Wish>, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        let wish = match event::poll(POLL).and_then(|ready| ready.then(event::read).transpose()) {
            Ok(Some(event)) => wish(&event),
            Ok(None) => None,
            Err(_) => return,
        };
        if wish.is_some_and(|wish| told.blocking_send(wish).is_err()) {
            return;
        }
    }
}

fn wish(event: &Event) -> Option<Wish> {
    match event {
        Event::Resize(..) => Some(Wish::DrawAnew),
        Event::Key(key) if key.code == KeyCode::Char('q') => Some(Wish::Quit),
        Event::Key(key)
            if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) =>
        {
            Some(Wish::Quit)
        }
        _ => None,
    }
}
