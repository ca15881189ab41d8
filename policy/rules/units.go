package rules

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// Sizes, spans, shares and days as the file writes them.

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}}

var errSize = errors.New("is no size; write 64KiB, 32MiB or 1GiB")

// parseSize reads a whole number with a unit of two's powers.
func parseSize(text string) (int64, error) {
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 32)
		if err != nil || n < 1 || digits[0] == '+' {
			return 0, errSize
		}
		return n * u.bytes, nil
	}
	return 0, errSize
}

// size writes bytes as the file does.
func size(n int64) string {
	for i := len(sizeUnits) - 2; i >= 0; i-- {
		if u := sizeUnits[i]; n >= u.bytes && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

const (
	day     = 24 * time.Hour
	maxKeep = 36500 // days: a century
)

// forever is the time that what has no end is kept: no end at all.
const forever time.Duration = 0

// parseKeep reads a number of days, or forever.
func parseKeep(text string) (time.Duration, error) {
	if text == "forever" {
		return forever, nil
	}
	digits, ok := strings.CutSuffix(text, "d")
	n, err := strconv.Atoi(digits)
	if ok && err == nil && 1 <= n && n <= maxKeep && digits[0] != '+' {
		return time.Duration(n) * day, nil
	}
	return 0, errors.New("is no duration; write " + likelyDays(text) + " or forever")
}

// likelyDays is how the number in a text would be written as days.
func likelyDays(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool { return r < '0' || '9' < r })
	if end < 1 || end > 5 {
		return "180d"
	}
	unit := strings.Trim(strings.ToLower(text[end:]), " s")
	n, err := strconv.Atoi(text[:end])
	if days := map[string]int{"day": 1, "d": 1, "w": 7, "week": 7, "month": 30, "y": 365, "year": 365}[unit]; err == nil && 0 < n*days && n*days <= maxKeep {
		return strconv.Itoa(n*days) + "d"
	}
	return "180d"
}

// maxJitter is how far the ends of what is kept may be spread, in percent.
const maxJitter = 50

func parsePercent(text string) (int, error) {
	digits, ok := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > maxJitter || digits[0] == '+' {
		return 0, errors.New("is no share; write 0% to " + strconv.Itoa(maxJitter) + "%")
	}
	return n, nil
}

// parseDay reads a day and returns the moment at which it is over, in UTC.
func parseDay(text string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, errors.New("is no day; write 2027-06-30")
	}
	return t.Add(day), nil
}
