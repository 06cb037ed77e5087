//! The full screen on a terminal, and its keys.

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

/// The full screen on a terminal. Dropping it restores the terminal.
pub(in crate::dev) struct Screen {
    terminal: DefaultTerminal,
    model: Model,
    /// Input from the keyboard task, which waits while the channel is full.
    inputs: mpsc::Receiver<Input>,
    stop: CancellationToken,
    /// Reads the keyboard until `stop`.
    _keyboard: JoinSet<()>,
}

/// Input from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Quit,
    Resize,
}

impl Screen {
    /// Switches the terminal to the full screen.
    pub(in crate::dev) fn open(title: String, kubectl: String) -> Result<Self, Error> {
        let terminal = ratatui::try_init().map_err(|source| Error::Terminal { source })?;
        let (sender, inputs) = mpsc::channel(16);
        let stop = CancellationToken::new();
        let mut keyboard = JoinSet::new();
        let stopped = stop.clone();
        keyboard.spawn_blocking(move || read_keyboard(&sender, &stopped));
        let mut screen = Self {
            terminal,
            model: Model {
                title,
                kubectl,
                ..Model::default()
            },
            inputs,
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

    /// Waits until the user quits.
    ///
    /// # Cancel safety
    ///
    /// Safe: a key that is pressed later is handled by the next call.
    pub(super) async fn quit(&mut self) {
        // The channel is closed when the terminal is, as after a hangup.
        while let Some(Input::Resize) = self.inputs.recv().await {
            self.draw();
        }
    }

    fn draw(&mut self) {
        let model = &self.model;
        // Drawing fails only when the terminal is closed, and a signal then ends the session.
        self.terminal.draw(|frame| draw(frame, model)).ok();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.stop.cancel();
        ratatui::restore();
    }
}

/// Reads the keyboard until it is stopped or the terminal is closed.
fn read_keyboard(sender: &mpsc::Sender<Input>, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        let input = match event::poll(POLL).and_then(|ready| ready.then(event::read).transpose()) {
            Ok(Some(event)) => input_of(&event),
            Ok(None) => None,
            Err(_) => return,
        };
        if input.is_some_and(|input| sender.blocking_send(input).is_err()) {
            return;
        }
    }
}

fn input_of(event: &Event) -> Option<Input> {
    match event {
        Event::Resize(..) => Some(Input::Resize),
        Event::Key(key) if key.code == KeyCode::Char('q') => Some(Input::Quit),
        Event::Key(key)
            if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) =>
        {
            Some(Input::Quit)
        }
        _ => None,
    }
}
