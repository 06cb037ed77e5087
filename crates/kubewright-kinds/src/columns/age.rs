//! Durations as tables show them.

use jiff::Timestamp;
use serde_json::Value;

/// How long ago a time was, as tables show it.
pub(crate) fn since(time: Option<&Value>, now: Timestamp) -> String {
    let parsed = time.and_then(|time| time.as_str()?.parse::<Timestamp>().ok());
    match parsed {
        Some(time) => human_duration(now.as_second() - time.as_second()),
        None => "<unknown>".to_owned(),
    }
}

/// A duration in two or three figures (`HumanDuration` of k8s.io/apimachinery).
pub(crate) fn human_duration(seconds: i64) -> String {
    let pair = |large: i64, unit: char, small: i64, part: char| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{part}"),
    };
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let days = hours / 24;
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => pair(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => pair(days, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => pair(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::human_duration;

    #[test]
    fn durations_have_two_or_three_figures() {
        let shown = [
            -5,
            -1,
            0,
            119,
            120,
            125,
            599,
            600,
            10_799,
            10_800,
            11_000,
            28_800,
            172_800,
            180_000,
            691_200,
            63_072_000,
            63_158_400,
            252_288_000,
        ]
        .map(human_duration);
        assert_eq!(
            shown,
            [
                "<invalid>",
                "0s",
                "0s",
                "119s",
                "2m",
                "2m5s",
                "9m59s",
                "10m",
                "179m",
                "3h",
                "3h3m",
                "8h",
                "2d",
                "2d2h",
                "8d",
                "2y",
                "2y1d",
                "8y"
            ]
        );
    }
}
