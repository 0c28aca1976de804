//! Values around the rules.

use super::super::datetime;
use super::super::json::Json;
use super::dice::Dice;

/// The zeros of other scripts, whose decimal digits an ASCII rule has to refuse.
pub const FOREIGN_ZEROS: [char; 6] = ['\u{0660}', '\u{06f0}', '\u{0966}', '\u{0e50}', '\u{ff10}', '\u{1d7ce}'];

/// What counts as white space in some places and not in others.
const BLANKS: [&str; 6] = [" ", "\n", "\t", "\u{a0}", "\u{3000}", "\u{200b}"];

pub(super) fn string(text: impl Into<String>) -> Json {
    Json::String(text.into())
}

pub(super) fn number(token: impl ToString) -> Json {
    Json::Number(token.to_string())
}

/// A value of any type.
pub(super) fn anything(dice: &mut Dice) -> Json {
    match dice.below(12) {
        0 => Json::Null,
        1 => Json::Bool(true),
        2 => Json::Bool(false),
        3 => Json::Array(Vec::new()),
        4 => Json::Object(Vec::new()),
        5 => string(""),
        6 => string("7"),
        7 => number(dice.pick(&["NaN", "Infinity", "-Infinity"])),
        8 => Json::Array(vec![number(7)]),
        9 => Json::Object(vec![("value".into(), number(7))]),
        10 => number(dice.pick(&["7", "0", "-1", "7.5", "1e400", "-0.0"])),
        _ => string("true"),
    }
}

/// A number around the integer rule and the bounds, or no number at all.
pub(super) fn integer(dice: &mut Dice, least: i128, most: i128) -> Json {
    let value = match dice.below(12) {
        0..5 => dice.pick(&[least - 1, least, least + 1, most - 1, most, most + 1]),
        5..8 => {
            let around =
                dice.pick(&[0, 7, 1 << 31, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, 1 << 63, 1 << 64, -(1 << 63)]);
            around + i128::from(dice.within(-2, 2))
        }
        8..11 => i128::from(dice.within(1, 9)) * 10_i128.pow(u32::try_from(dice.below(22)).unwrap_or(0)),
        _ => return anything(dice),
    };
    if dice.one_in(2) { number(value) } else { number(spelt(dice, value)) }
}

/// A value that is inside and not remarkable.
pub(super) fn tame_integer(dice: &mut Dice, least: i64, most: i64) -> Json {
    number(dice.within(least, most.min(least + 1000)))
}

/// The value with a point or an exponent, or a value next to it.
pub(super) fn spelt(dice: &mut Dice, value: i128) -> String {
    let zeros = "0".repeat(if value == 0 { 0 } else { dice.below(4) });
    match dice.below(14) {
        0 => format!("{value}.0"),
        1 => format!("{value}.{zeros}0"),
        2 => format!("{value}e0"),
        3 => format!("{value}E+{zeros}0"),
        4 => format!("{value}{zeros}e-{}", zeros.len()),
        5 if value != 0 => format!("{value}0e-01"),
        6 | 7 => shifted(dice, value),
        8 => format!("{value}.5"),
        9 => format!("{value}.{}1", "0".repeat(dice.below(25))),
        10 if value > 0 => format!("{}.{}", value - 1, "9".repeat(1 + dice.below(25))),
        11 => format!("{value}e-1"),
        12 => format!("{value}e{}", dice.pick(&[1, 15, 16, 100, 308, 309, 400])),
        _ => dice.pick(&["0.5", "1e-7", "1e-400", "0e400", "-0", "-0.0", "0E-5", "1e99999999999999999999"]).to_owned(),
    }
}

/// The same value, its point elsewhere.
fn shifted(dice: &mut Dice, value: i128) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let digits = value.unsigned_abs().to_string();
    let place = dice.below(digits.len() + 1);
    let (whole, fraction) = digits.split_at(place);
    let whole = if whole.is_empty() { "0" } else { whole };
    match fraction.len() {
        0 => format!("{sign}{whole}.0E0"),
        more => format!("{sign}{whole}.{fraction}{}{more}", dice.pick(&["e", "E", "e+", "E+0"])),
    }
}

/// A date-time far from every rule.
pub(super) fn tame_date_time(dice: &mut Dice) -> String {
    format!("{}-0{}-1{}T03:00:00Z", dice.within(2090, 2110), dice.within(1, 9), dice.within(0, 9))
}

/// A date-time around the rule, or no date-time at all.
pub(super) fn date_time(dice: &mut Dice) -> Json {
    match dice.below(12) {
        0..3 => string(leap_second(dice)),
        3 | 4 => string(edge(dice)),
        5..8 => string(fields(dice)),
        8..11 => {
            let good = if dice.one_in(2) { leap_second(dice) } else { edge(dice) };
            string(damaged(dice, &good))
        }
        _ => anything(dice),
    }
}

fn offset(dice: &mut Dice) -> i64 {
    match dice.below(4) {
        0 => 0,
        1 => dice.pick(&[-1439, -1438, -1, 1, 1438, 1439]),
        2 => dice.pick(&[-480, -300, -60, 60, 330, 345]),
        _ => dice.within(-1439, 1439),
    }
}

fn fraction(dice: &mut Dice) -> String {
    match dice.below(6) {
        0 => format!(".{}", "9".repeat(1 + dice.below(12))),
        1 => format!(".{}{}", "0".repeat(dice.below(12)), dice.below(10)),
        2 => format!(".{}{}", "123456789".repeat(1 + dice.below(3)), dice.below(1000)),
        _ => String::new(),
    }
}

/// The local time at an offset of so many minutes; of second 60 the second before is given.
fn spell(dice: &mut Dice, seconds: i64, offset: i64, leap: bool) -> String {
    let local = seconds + offset * 60;
    let (year, month, day) = datetime::date(local.div_euclid(86_400).max(0));
    let second = local.rem_euclid(86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60 + i64::from(leap));
    let t = if dice.one_in(8) { 't' } else { 'T' };
    let zone = match offset {
        0 => dice.pick(&["Z", "Z", "z", "+00:00", "-00:00"]).to_owned(),
        _ => format!("{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, offset.abs() / 60, offset.abs() % 60),
    };
    let fraction = fraction(dice);
    format!("{year:04}-{month:02}-{day:02}{t}{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
}

/// Second 60, where it is allowed or near there.
fn leap_second(dice: &mut Dice) -> String {
    let year = dice.pick(&[1, 4, 1900, 1972, 2000, 2016, 2026, 2096, 2099, 2100, 9999]);
    let start = datetime::days_before(year, dice.within(1, 12), 1) * 86_400;
    let away = if dice.one_in(2) { 0 } else { dice.pick(&[-86_400, -3600, -60, 60, 3600, 86_400, 86_400 * 15]) };
    let offset = offset(dice);
    spell(dice, (start + away - 1).max(0), offset, true)
}

/// Near the ends of the calendar, in UTC or in local time.
fn edge(dice: &mut Dice) -> String {
    let end = datetime::days_before(10_000, 1, 1) * 86_400;
    let offset = offset(dice);
    let shift = dice.pick(&[0, offset * 60]);
    let away = dice.pick(&[0, 1, 59, 60, 3599, 3600, 86_399, 86_400]);
    let seconds = if dice.one_in(2) { away - shift } else { end - 1 - away - shift };
    spell(dice, seconds.clamp(-offset * 60, end - 1 - offset * 60), offset, false)
}

/// Every field near its bounds.
fn fields(dice: &mut Dice) -> String {
    let year = dice.pick(&[0, 1, 1582, 1900, 2000, 2023, 2024, 2096, 2100, 2400, 9999]);
    let mut values =
        [dice.within(1, 12), dice.within(1, 28), dice.within(0, 23), dice.within(0, 59), dice.within(0, 59)];
    let remarkable: [&[i64]; 5] =
        [&[0, 1, 2, 12, 13], &[0, 1, 28, 29, 30, 31, 32], &[0, 23, 24, 25], &[0, 59, 60, 61], &[0, 58, 59, 60, 61, 99]];
    let place = dice.below(5);
    values[place] = dice.pick(remarkable[place]);
    if dice.one_in(3) {
        values[1] = dice.pick(remarkable[1]);
    }
    let [month, day, hour, minute, second] = values;
    let zone = match dice.below(3) {
        0 => format!("{}{:02}:{:02}", dice.pick(&['+', '-']), dice.pick(&[0, 23, 24, 99]), dice.pick(&[0, 59, 60, 99])),
        _ => "Z".to_owned(),
    };
    let fraction = fraction(dice);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}")
}

/// One character more, less or other.
fn damaged(dice: &mut Dice, good: &str) -> String {
    let mut text: Vec<char> = good.chars().collect();
    let place = dice.below(text.len());
    let other = match dice.below(3) {
        0 => {
            char::from_u32(dice.pick(&FOREIGN_ZEROS) as u32 + u32::try_from(dice.below(10)).unwrap_or(0)).unwrap_or('x')
        }
        1 => dice.pick(&['0', '3', '9', 'T', 'Z', ':', '-', '+', '.']),
        _ => dice.pick(&[' ', '\n', '\u{2212}', '\u{ff3a}', '\u{b2}', '\0', ',', '/', '_']),
    };
    match dice.below(6) {
        0 => drop(text.remove(place)),
        1 => text.insert(place, other),
        2 => text.push(other),
        3 => text.insert(0, other),
        4 => text.truncate(place),
        _ => text[place] = other,
    }
    text.into_iter().collect()
}

/// A name: long, short, padded, in every width that UTF-8 has.
pub(super) fn name(dice: &mut Dice, most: usize) -> Json {
    if dice.one_in(8) {
        return anything(dice);
    }
    let length = match dice.below(3) {
        0 => dice.below(20),
        _ => dice.pick(&[0, 1, most / 2 + 1, most - 1, most, most, most + 1, most + 1, most * 2]),
    };
    let unit = dice.pick(&["x", "x", "ä", "日", "😀", "e\u{301}", "\u{1}", "\\", "\"", "/", "\0", "\u{202e}"]);
    let mut text: String = unit.chars().cycle().take(length).collect();
    if dice.one_in(4) {
        text.insert_str(0, dice.pick(&BLANKS));
        text.pop();
    }
    if dice.one_in(4) {
        text.pop();
        text.push_str(dice.pick(&BLANKS));
    }
    string(text)
}

/// A text next to another one.
pub(super) fn near(dice: &mut Dice, text: &str) -> String {
    let shorter = || text.chars().take(text.chars().count().saturating_sub(1)).collect();
    match dice.below(9) {
        0 => format!("{}{text}", dice.pick(&BLANKS)),
        1 => format!("{text}{}", dice.pick(&BLANKS)),
        2 => text.to_uppercase(),
        3 => shorter(),
        4 => format!("{text}s"),
        5 => text.replace(['-', '_'], ""),
        6 => text.replace('-', "_").replace('o', "\u{43e}"),
        7 => String::new(),
        _ => text.chars().enumerate().map(|(index, c)| if index == 0 { c.to_ascii_uppercase() } else { c }).collect(),
    }
}
