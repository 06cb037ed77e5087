//! The layout of the screen.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph, Row, Table};

use super::model::Model;

/// Draws the screen from top to bottom: title, samples, objects, Pods, reconciles, events, log.
pub(super) fn draw(frame: &mut Frame<'_>, model: &Model) {
    let limit = (frame.area().height / 6).max(1);
    let rows = |count: usize| {
        let count = u16::try_from(count.max(1)).unwrap_or(limit);
        Constraint::Length(count.min(limit) + 1)
    };
    let board = &model.board;
    let [head, samples, objects, pods, reconciles, events, log, foot] = Layout::vertical([
        Constraint::Length(1),
        rows(board.samples.len()),
        rows(board.objects.len() + 1),
        rows(board.pods.len() + 1),
        rows(model.reconciles.len() + 1),
        rows(board.events.len()),
        Constraint::Min(2),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let title = format!("{}  {}", model.title, model.state);
    frame.render_widget(Line::styled(title, bold), head);
    draw_samples(frame, samples, model);
    draw_objects(frame, objects, model);
    draw_pods(frame, pods, model);
    draw_reconciles(frame, reconciles, model);
    draw_end(frame, events, "events", &board.events);
    let lines: Vec<String> = model.log.iter().cloned().collect();
    draw_end(frame, log, "log", &lines);
    let dim = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(
        Line::styled(format!("q quits   {}", model.kubectl), dim),
        foot,
    );
}

fn titled(title: &'static str) -> Block<'static> {
    Block::new().borders(Borders::TOP).title(title)
}

fn draw_samples(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let samples = model.board.samples.iter();
    let rows = samples.map(|sample| Row::new([sample.name.as_str(), sample.text()]));
    let widths = [Constraint::Percentage(40), Constraint::Percentage(60)];
    frame.render_widget(Table::new(rows, widths).block(titled("samples")), area);
}

fn draw_pods(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let rows = model.board.pods.iter().map(|pod| Row::new(pod.clone()));
    let widths = [
        Constraint::Percentage(20),
        Constraint::Percentage(35),
        Constraint::Percentage(20),
        Constraint::Percentage(15),
        Constraint::Percentage(10),
    ];
    let table =
        Table::new(rows, widths).header(heading(["NAMESPACE", "POD", "NODE", "PHASE", "READY"]));
    frame.render_widget(table.block(titled("pods")), area);
}

fn draw_objects(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let objects = model.board.objects.iter();
    let rows = objects.map(|object| Row::new(object.clone()));
    let widths = [
        Constraint::Percentage(20),
        Constraint::Percentage(35),
        Constraint::Percentage(45),
    ];
    let table = Table::new(rows, widths).header(heading(["KIND", "NAME", "CONDITIONS"]));
    frame.render_widget(table.block(titled("objects")), area);
}

/// Draws the newest reconciles that fit.
fn draw_reconciles(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let fit = usize::from(area.height.saturating_sub(2));
    let skipped = model.reconciles.len().saturating_sub(fit);
    let rows = model.reconciles.iter().skip(skipped).map(|reconciled| {
        Row::new([
            reconciled.controller.as_str(),
            reconciled.object.as_str(),
            reconciled.time.as_str(),
            reconciled.outcome.as_str(),
        ])
    });
    let widths = [
        Constraint::Percentage(20),
        Constraint::Percentage(35),
        Constraint::Percentage(20),
        Constraint::Percentage(25),
    ];
    let table =
        Table::new(rows, widths).header(heading(["CONTROLLER", "OBJECT", "TIME", "OUTCOME"]));
    frame.render_widget(table.block(titled("reconciles")), area);
}

fn heading<const N: usize>(titles: [&'static str; N]) -> Row<'static> {
    Row::new(titles).style(Style::new().add_modifier(Modifier::DIM))
}

/// Draws the last lines that fit.
fn draw_end(frame: &mut Frame<'_>, area: Rect, title: &'static str, lines: &[String]) {
    let fit = usize::from(area.height.saturating_sub(1));
    let skipped = lines.len().saturating_sub(fit);
    let shown: Vec<Line<'_>> = lines
        .iter()
        .skip(skipped)
        .map(|line| Line::raw(line.as_str()))
        .collect();
    frame.render_widget(Paragraph::new(shown).block(titled(title)), area);
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::draw;
    use crate::dev::board::{Board, SampleState};
    use crate::dev::reconciled::Reconciled;
    use crate::dev::view::model::Model;

    const EXPECTED: [&str; 22] = [
        "sites  running",
        "samples─────────────────────────────────────────────────────",
        "Site default/a           ready",
        "Site default/b           no status yet",
        "objects─────────────────────────────────────────────────────",
        "KIND         NAME                  CONDITIONS",
        "Site         default/a             Ready=True",
        "  ConfigMap  default/a             -",
        "pods────────────────────────────────────────────────────────",
        "NAMESPACE    POD               NODE         PHASE     READY",
        "default      web-1             node-1       Running   true",
        "reconciles──────────────────────────────────────────────────",
        "CONTROLLER   OBJECT             TIME         OUTCOME",
        "sites        default/a          3.5ms        done",
        "events──────────────────────────────────────────────────────",
        "Created Pod default/web-1: made",
        "log─────────────────────────────────────────────────────────",
        "all controllers work",
        "",
        "",
        "",
        "q quits   kubectl --kubeconfig x",
    ];

    #[test]
    fn screen_shows_the_cluster_the_reconciles_and_the_log() {
        let text = |text: &str| text.to_owned();
        let mut model = Model {
            title: text("sites"),
            kubectl: text("kubectl --kubeconfig x"),
            state: text("running"),
            board: Board {
                samples: vec![
                    SampleState {
                        name: text("Site default/a"),
                        missing: None,
                    },
                    SampleState {
                        name: text("Site default/b"),
                        missing: Some(text("no status yet")),
                    },
                ],
                objects: vec![
                    ["Site", "default/a", "Ready=True"].map(text),
                    ["  ConfigMap", "default/a", "-"].map(text),
                ],
                pods: vec![["default", "web-1", "node-1", "Running", "true"].map(text)],
                events: vec![text("Created Pod default/web-1: made")],
            },
            ..Model::default()
        };
        model.log("all controllers work");
        model.reconciled(&Reconciled {
            controller: text("sites"),
            object: text("default/a"),
            writes: 1,
            time: text("3.5ms"),
            outcome: text("done"),
        });
        let mut terminal = Terminal::new(TestBackend::new(60, 22)).unwrap();
        terminal.draw(|frame| draw(frame, &model)).unwrap();
        let drawn = terminal.backend().to_string();
        let lines: Vec<&str> = drawn
            .lines()
            .map(|line| line.trim_matches('"').trim_end())
            .collect();
        assert_eq!(lines, EXPECTED);
    }
}
