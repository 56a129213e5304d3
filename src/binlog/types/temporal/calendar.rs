//! Dates ↔ days of the Gregorian calendar.

use super::Date;

impl Date {
    /// Days since 1970-01-01 in the Gregorian calendar. `None` for a date that no calendar has:
    /// month or day 0, or a day that the month does not have.
    #[inline]
    pub fn days(self) -> Option<i32> {
        let leap = self.year.is_multiple_of(4)
            && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400));
        let longest = match self.month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        if !(1..=longest).contains(&self.day) {
            return None;
        }
        // Years and months from March on, so that the leap day is the last.
        let (year, month, day) = (
            i32::from(self.year),
            i32::from(self.month),
            i32::from(self.day),
        );
        let shift = i32::from(month <= 2);
        let year = year.saturating_sub(shift);
        let month = month
            .saturating_add(shift.saturating_mul(12))
            .saturating_sub(3);
        let in_year = month.saturating_mul(153).saturating_add(2) / 5;
        let leap_days = year
            .div_euclid(4)
            .saturating_sub(year.div_euclid(100))
            .saturating_add(year.div_euclid(400));
        let days = year
            .saturating_mul(365)
            .saturating_add(leap_days)
            .saturating_add(in_year)
            .saturating_add(day);
        // 0000-03-01 is day 1 so far.
        Some(days.saturating_sub(719_469))
    }

    /// The date so many days after 1970-01-01, for days of the years 0 to 9999.
    pub(super) fn from_days(days: u32) -> Self {
        // From 1600-03-01 on, whole 400 years at a time.
        const FROM_1600: u32 = 135_080;
        let n = days.saturating_add(FROM_1600);
        let (era, n) = (n / 146_097, n % 146_097);
        let century = (n / 36_524).min(3);
        let n = n.saturating_sub(century.saturating_mul(36_524));
        let (leap, n) = (n / 1_461, n % 1_461);
        let single = (n / 365).min(3);
        let n = n.saturating_sub(single.saturating_mul(365));
        let month = n.saturating_mul(5).saturating_add(2) / 153;
        let day = n.saturating_sub(month.saturating_mul(153).saturating_add(2) / 5);
        let year = [1600, era.saturating_mul(400), century.saturating_mul(100)]
            .into_iter()
            .chain([leap.saturating_mul(4), single, u32::from(month >= 10)])
            .fold(0u32, u32::saturating_add);
        let month = if month < 10 {
            month.saturating_add(3)
        } else {
            month.saturating_sub(9)
        };
        Self {
            year: u16::try_from(year).unwrap_or(u16::MAX),
            month: u8::try_from(month).unwrap_or(u8::MAX),
            day: u8::try_from(day.saturating_add(1)).unwrap_or(u8::MAX),
        }
    }
}
