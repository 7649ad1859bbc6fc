//! Kanji numerals, alone and with digits between them: 十二, 二千五百, 二〇二六, 3万5千.

/// Most characters of one number, so that reading at every position of a text stays linear.
const MOST: usize = 20;

/// A number, and how many pieces it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numeral {
    pub value: i64,
    pub pieces: usize,
    /// Whether it contains kanji.
    pub has_kanji: bool,
}

/// The number at the start of `pieces`; each piece is a character or a run of ASCII digits. `None` if there is none, or
/// it is too large.
pub fn read<'p>(pieces: impl Iterator<Item = &'p str>) -> Option<Numeral> {
    let (mut total, mut section, mut digits): (i64, i64, Option<i64>) = (0, 0, None);
    let (mut taken, mut has_kanji) = (0, false);
    for piece in pieces.take(MOST) {
        if piece.bytes().all(|byte| byte.is_ascii_digit()) && !piece.is_empty() {
            // Digits directly after digits are another number.
            if digits.is_some() {
                break;
            }
            digits = Some(piece.parse().ok()?);
        } else {
            match value_of(piece) {
                Some(value @ 0..=9) => digits = Some(digits.unwrap_or(0).checked_mul(10)?.checked_add(value)?),
                Some(unit @ (10 | 100 | 1_000)) => {
                    section = section.checked_add(digits.take().unwrap_or(1).checked_mul(unit)?)?;
                }
                Some(unit) => {
                    let below = section.checked_add(digits.take().unwrap_or(0))?;
                    total = total.checked_add(below.max(1).checked_mul(unit)?)?;
                    section = 0;
                }
                None => break,
            }
            has_kanji = true;
        }
        taken += 1;
    }
    let value = total.checked_add(section)?.checked_add(digits.unwrap_or(0))?;
    (taken > 0).then_some(Numeral { value, pieces: taken, has_kanji })
}

/// True if `next`, followed by `after`, begins a counter: 個, 人, 丁目.
#[must_use]
pub fn is_counter(next: &str, after: &str) -> bool {
    match next {
        // 一番 also means "most".
        "番" | "丁" => matches!(after, "目" | "地" | "号") || after.bytes().any(|byte| byte.is_ascii_digit()),
        one => COUNTERS.contains(&one),
    }
}

/// First characters of counters.
const COUNTERS: [&str; 41] = [
    "年", "月", "日", "時", "分", "秒", "円", "個", "名", "人", "枚", "つ", "本", "歳", "階", "回", "台", "件", "杯",
    "皿", "足", "箱", "冊", "通", "点", "口", "匹", "頭", "羽", "軒", "泊", "倍", "週", "号", "着", "組", "膳", "畳",
    "桁", "度", "袋",
];

/// The value of one numeral.
fn value_of(character: &str) -> Option<i64> {
    Some(match character {
        "〇" | "零" => 0,
        "一" | "壱" => 1,
        "二" | "弐" => 2,
        "三" | "参" => 3,
        "四" => 4,
        "五" => 5,
        "六" => 6,
        "七" => 7,
        "八" => 8,
        "九" => 9,
        "十" | "拾" => 10,
        "百" => 100,
        "千" => 1_000,
        "万" => 10_000,
        "億" => 100_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(pieces: &[&str]) -> Option<(i64, usize)> {
        read(pieces.iter().copied()).map(|numeral| (numeral.value, numeral.pieces))
    }

    #[test]
    fn numerals_are_read_in_every_style() {
        for (pieces, expected) in [
            (&["十", "二"][..], Some((12, 2))),
            (&["二", "千", "五", "百"], Some((2_500, 4))),
            (&["二", "〇", "二", "六", "年"], Some((2_026, 4))),
            (&["3", "万", "5", "千", "円"], Some((35_000, 4))),
            (&["一", "億", "二", "千", "万"], Some((120_000_000, 5))),
            (&["百"], Some((100, 1))),
            (&["12", "34"], Some((12, 1))),
            (&["人"], None),
            (&[], None),
            (&["99999999999999999999"], None),
        ] {
            assert_eq!(value(pieces), expected, "{pieces:?}");
        }
    }

    #[test]
    fn a_number_beyond_all_bounds_is_none() {
        assert_eq!(value(&["九"; 20]), None);
        assert_eq!(value(&[&["9"; 1][..], &["億"; 19]].concat()), Some((9 * 100_000_000 + 18 * 100_000_000, 20)));
    }
}
