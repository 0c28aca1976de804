//! Date-times on the exact rule (contract `bounded-rfc3339-normalization`).
//!
//! RFC 3339 in ASCII digits, the offset never missing, the instant in UTC inside the years 0001 to 9999 of the proleptic
//! Gregorian calendar. Second 60 counts as second 59 plus one, and only where a month of UTC begins right there.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

const MINUTE: i64 = 60;
const DAY: i64 = 86_400;

/// An instant, exact: any number of fraction digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DateTime {
    /// Since 0001-01-01T00:00:00Z.
    seconds: i64,
    /// Digits behind the point, without a zero at the end.
    fraction: Box<str>,
}

/// The text is no date-time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DateTimeError {
    /// The grammar asks for something else.
    #[error("expected {expected} at character {at}")]
    Syntax {
        /// What belongs there.
        expected: &'static str,
        /// Where, counted from 1.
        at: usize,
    },
    /// A field is outside its range.
    #[error("expected {least:02} to {most:02} for the {field}, found {found:02}")]
    Range {
        /// Which field.
        field: &'static str,
        /// Its smallest value.
        least: i64,
        /// Its largest value, of this month for a day.
        most: i64,
        /// What stands there.
        found: i64,
    },
    /// Second 60 within a month of UTC.
    #[error("expected second 60 only where a month begins in UTC, found it before {0}")]
    LeapSecond(DateTime),
    /// The instant is outside the calendar.
    #[error("expected an instant of the years 0001 to 9999 in UTC")]
    Overflow,
}

struct Reader<'a> {
    rest: &'a [u8],
    whole: usize,
}

impl Reader<'_> {
    fn syntax(&self, expected: &'static str) -> DateTimeError {
        DateTimeError::Syntax { expected, at: self.whole - self.rest.len() + 1 }
    }

    fn take(&mut self, accepted: &[u8], expected: &'static str) -> Result<u8, DateTimeError> {
        match self.rest.split_first() {
            Some((byte, rest)) if accepted.contains(byte) => {
                self.rest = rest;
                Ok(*byte)
            }
            _ => Err(self.syntax(expected)),
        }
    }

    fn digits(&mut self, count: usize) -> Result<i64, DateTimeError> {
        (0..count).try_fold(0, |value, _| Ok(value * 10 + i64::from(self.take(b"0123456789", "a digit")? - b'0')))
    }

    fn field(&mut self, field: &'static str, least: i64, most: i64) -> Result<i64, DateTimeError> {
        let found = self.digits(if field == "year" { 4 } else { 2 })?;
        let inside = (least..=most).contains(&found);
        if inside { Ok(found) } else { Err(DateTimeError::Range { field, least, most, found }) }
    }
}

impl DateTime {
    /// Reads a date-time.
    ///
    /// # Errors
    /// [`DateTimeError`], for the first thing that is wrong.
    pub fn parse(text: &str) -> Result<DateTime, DateTimeError> {
        let mut reader = Reader { rest: text.as_bytes(), whole: text.len() };
        let year = reader.field("year", 1, 9999)?;
        reader.take(b"-", "`-`")?;
        let month = reader.field("month", 1, 12)?;
        reader.take(b"-", "`-`")?;
        let day = reader.field("day", 1, days_in(year, month))?;
        reader.take(b"Tt", "`T`")?;
        let hour = reader.field("hour", 0, 23)?;
        reader.take(b":", "`:`")?;
        let minute = reader.field("minute", 0, 59)?;
        reader.take(b":", "`:`")?;
        let second = reader.field("second", 0, 60)?;
        let fraction = if reader.take(b".", "").is_ok() {
            let digits = reader.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            reader.digits(usize::from(digits == 0))?;
            let (fraction, rest) = reader.rest.split_at(digits);
            reader.rest = rest;
            String::from_utf8_lossy(fraction).trim_end_matches('0').into()
        } else {
            "".into()
        };
        let offset = match reader.take(b"Zz+-", "`Z` or an offset")? {
            sign @ (b'+' | b'-') => {
                let hours = reader.field("offset hour", 0, 23)?;
                reader.take(b":", "`:`")?;
                let minutes = hours * 60 + reader.field("offset minute", 0, 59)?;
                if sign == b'+' { minutes * MINUTE } else { -minutes * MINUTE }
            }
            _ => 0,
        };
        if !reader.rest.is_empty() {
            return Err(reader.syntax("the end"));
        }
        let local = days_before(year, month, day) * DAY + (hour * 60 + minute) * MINUTE + second;
        let instant = DateTime { seconds: local - offset, fraction };
        if !(0..days_before(10_000, 1, 1) * DAY).contains(&instant.seconds) {
            return Err(DateTimeError::Overflow);
        }
        if second == 60 && !instant.begins_a_month() {
            return Err(DateTimeError::LeapSecond(DateTime { fraction: "".into(), ..instant }));
        }
        Ok(instant)
    }

    /// What the system's clock says, in whole seconds.
    pub fn now() -> DateTime {
        // A clock before 1970 counts as 1970.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let seconds = days_before(1970, 1, 1) * DAY + i64::try_from(since).unwrap_or(0);
        DateTime { seconds, fraction: "".into() }
    }

    fn begins_a_month(&self) -> bool {
        self.seconds % DAY == 0 && date(self.seconds / DAY).2 == 1
    }
}

/// In UTC, with as many fraction digits as count.
impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((year, month, day), second) = (date(self.seconds / DAY), self.seconds % DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        let point = if self.fraction.is_empty() { "" } else { "." };
        write!(f, "{point}{}Z", self.fraction)
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days in a month, which is from 1 to 12.
fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 0001-01-01 to a date.
pub(super) fn days_before(year: i64, month: i64, day: i64) -> i64 {
    let years = year - 1;
    let whole = years * 365 + years / 4 - years / 100 + years / 400;
    whole + (1..month).map(|earlier| days_in(year, earlier)).sum::<i64>() + day - 1
}

/// The date so many days after 0001-01-01.
pub(super) fn date(days: i64) -> (i64, i64, i64) {
    // No year is longer than 366 days, so this is never too late; and at most a few years early.
    let mut year = days / 366 + 1;
    while days_before(year + 1, 1, 1) <= days {
        year += ((days - days_before(year + 1, 1, 1)) / 366).max(1);
    }
    let mut month = 1;
    while month < 12 && days_before(year, month + 1, 1) <= days {
        month += 1;
    }
    (year, month, days - days_before(year, month, 1) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn instants_are_told_in_utc() {
        for (text, utc) in [
            ("2099-01-15T03:00:00Z", "2099-01-15T03:00:00Z"),
            ("2099-01-15t03:00:00.1200z", "2099-01-15T03:00:00.12Z"),
            ("2099-01-15T03:00:00.000+05:30", "2099-01-14T21:30:00Z"),
            ("2099-12-31T23:59:59-00:01", "2100-01-01T00:00:59Z"),
            ("2099-12-31T23:59:60Z", "2100-01-01T00:00:00Z"),
            ("2100-01-01T00:59:60.5+01:00", "2100-01-01T00:00:00.5Z"),
            ("2099-12-31T18:59:60-05:00", "2100-01-01T00:00:00Z"),
            ("0001-01-01T23:59:00+23:59", "0001-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999999999Z", "9999-12-31T23:59:59.999999999999Z"),
            ("2096-02-29T12:00:00-00:00", "2096-02-29T12:00:00Z"),
        ] {
            assert_eq!(DateTime::parse(text).map(|instant| instant.to_string()).as_deref(), Ok(utc), "{text}");
        }
    }

    #[test]
    fn now_is_between_two_looks_at_another_clock() {
        let look = || jiff::Timestamp::now().as_second();
        let (before, now, after) = (look(), DateTime::now().to_string(), look());
        let now = now.parse::<jiff::Timestamp>().unwrap().as_second();
        assert!((before..=after).contains(&now), "{before} {now} {after}");
    }

    #[test]
    fn refusals_say_what_is_wrong() {
        for (text, message) in [
            ("", "expected a digit at character 1"),
            ("2099-01-15 03:00:00Z", "expected `T` at character 11"),
            ("2099-01-15T03:00:00", "expected `Z` or an offset at character 20"),
            ("2099-01-15T03:00:00.Z", "expected a digit at character 21"),
            ("2099-01-15T03:00:00.1234567\u{662}Z", "expected `Z` or an offset at character 28"),
            ("2099-01-15T03:00:00Z ", "expected the end at character 21"),
            ("2099-01-1\u{ff15}T03:00:00Z", "expected a digit at character 10"),
            ("2099-01-15T03:00:00+0530", "expected `:` at character 23"),
            ("0000-01-15T03:00:00Z", "expected 01 to 9999 for the year, found 00"),
            ("2099-13-15T03:00:00Z", "expected 01 to 12 for the month, found 13"),
            ("2099-02-29T03:00:00Z", "expected 01 to 28 for the day, found 29"),
            ("2099-01-15T24:00:00Z", "expected 00 to 23 for the hour, found 24"),
            ("2099-12-31T23:59:61Z", "expected 00 to 60 for the second, found 61"),
            ("2099-01-15T03:00:00+24:00", "expected 00 to 23 for the offset hour, found 24"),
            ("2099-01-15T03:00:00+05:60", "expected 00 to 59 for the offset minute, found 60"),
            (
                "2026-08-12T12:34:60Z",
                "expected second 60 only where a month begins in UTC, found it before 2026-08-12T12:35:00Z",
            ),
            (
                "2099-12-31T23:59:60+01:00",
                "expected second 60 only where a month begins in UTC, found it before 2099-12-31T23:00:00Z",
            ),
            (
                "2099-12-30T23:59:60.9Z",
                "expected second 60 only where a month begins in UTC, found it before 2099-12-31T00:00:00Z",
            ),
            ("9999-12-31T23:59:60Z", "expected an instant of the years 0001 to 9999 in UTC"),
            ("9999-12-31T23:59:59-23:59", "expected an instant of the years 0001 to 9999 in UTC"),
            (
                "9999-12-31T23:59:60+23:59",
                "expected second 60 only where a month begins in UTC, found it before 9999-12-31T00:01:00Z",
            ),
            ("0001-01-01T00:00:00+23:59", "expected an instant of the years 0001 to 9999 in UTC"),
        ] {
            assert_eq!(DateTime::parse(text).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn every_day_of_the_calendar_is_the_one_after_the_day_before() {
        let mut expected = (1, 1, 1);
        for days in 0..days_before(10_000, 1, 1) {
            assert_eq!(date(days), expected);
            assert_eq!(days_before(expected.0, expected.1, expected.2), days);
            let (year, month, day) = expected;
            expected = match (month, day == days_in(year, month)) {
                (_, false) => (year, month, day + 1),
                (12, true) => (year + 1, 1, 1),
                (_, true) => (year, month + 1, 1),
            };
        }
        assert_eq!(expected, (10_000, 1, 1));
    }

    /// What jiff makes of the fields: it knows the calendar, and nothing of our rule for second 60 or of the years we stop at.
    fn jiff(fields: [i64; 6], fraction: &str, offset: i64) -> Option<String> {
        use ::jiff::civil::{Date, DateTime as Civil, Time};
        let [year, month, day, hour, minute, second] = fields;
        let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
        let leap = second == 60;
        let second = if leap { 59 } else { second };
        let time = Time::new(hour.try_into().ok()?, minute.try_into().ok()?, second.try_into().ok()?, 0).ok()?;
        let away = ::jiff::SignedDuration::from_secs(i64::from(leap) - offset * 60);
        let utc = Civil::from_parts(date, time).checked_add(away).ok()?;
        let allowed = !leap || utc.day() == 1 && utc.time() == Time::midnight();
        let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
        ((1..=9999).contains(&utc.year()) && year > 0 && allowed).then(|| format!("{utc}{fraction}Z"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn agrees_with_jiff_on_the_calendar(
            year in prop_oneof![0i64..3, 1995i64..2105, 9998i64..10_000],
            month in 0i64..14, day in prop_oneof![0i64..3, 27i64..33], hour in prop_oneof![0i64..2, 22i64..25],
            minute in prop_oneof![0i64..2, 58i64..61], second in prop_oneof![0i64..2, 58i64..62],
            fraction in "(\\.[0-9]{1,20})?", hours in 0i64..24, minutes in 0i64..60, west: bool, utc: bool
        ) {
            let offset = if utc { 0 } else { (hours * 60 + minutes) * if west { -1 } else { 1 } };
            let zone = if utc { "Z".into() } else { format!("{}{hours:02}:{minutes:02}", if west { '-' } else { '+' }) };
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}");
            let ours = DateTime::parse(&text).ok().map(|instant| instant.to_string());
            prop_assert_eq!(ours, jiff([year, month, day, hour, minute, second], &fraction, offset), "{}", text);
        }

        #[test]
        fn agrees_with_jiff_on_second_60(
            year in prop_oneof![1i64..3, 1995i64..2105, 9998i64..10_000], month in 1i64..13, offset in -1439i64..1440,
            away in prop_oneof![Just(0i64), Just(0), Just(60), Just(-60), Just(86_400), Just(-86_400)],
        ) {
            // The second before a month of UTC begins, or near there, told at some offset.
            let local = days_before(year, month, 1) * DAY + away - 1 + offset * MINUTE;
            prop_assume!((0..days_before(10_000, 1, 1) * DAY).contains(&local));
            let ((year, month, day), of_day) = (date(local / DAY), local % DAY);
            let (hour, minute) = (of_day / 3600, of_day / 60 % 60);
            let (sign, hours, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / 60, offset.abs() % 60);
            let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:60{sign}{hours:02}:{minutes:02}");
            let ours = DateTime::parse(&text).ok().map(|instant| instant.to_string());
            prop_assert_eq!(ours, jiff([year, month, day, hour, minute, 60], "", offset), "{}", text);
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,40}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{0,9})?([Zz]|[+-][0-9:]{5})") {
            if let Ok(instant) = DateTime::parse(&text) {
                prop_assert_eq!(DateTime::parse(&instant.to_string()), Ok(instant));
            }
        }
    }
}
