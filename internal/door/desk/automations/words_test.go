package automations

import (
	"strings"
	"testing"
)

func TestCronWords(t *testing.T) {
	for text, want := range map[string]string{
		"@daily": "Every day at 00:00", "5 9 * * *": "Every day at 09:05", "0 9 * * 1-5": "Weekdays at 09:00",
		"30 17 * * 5": "Fridays at 17:30", "0 0 * * 7": "Sundays at 00:00",
		"*/15 * * * *": "Every 15 minutes", "*/1 * * * *": "Every minute", "* * * * *": "Every minute",
		"*/45 * * * *": "Schedule */45 * * * *", "* 9 * * *": "Schedule * 9 * * *",
		"7 * * * *":   "Every hour at minute 7",
		"0 8 1 * *":   "The 1st of every month at 08:00",
		"0 9 * * 1,3": "Schedule 0 9 * * 1,3", "0 9 13 * 5": "Schedule 0 9 13 * 5", "0 9 1 6 *": "Schedule 0 9 1 6 *",
		"0 9-17 * * *": "Schedule 0 9-17 * * *", "0 9 * * 9": "Schedule 0 9 * * 9",
		"*/15 9 * * *": "Schedule */15 9 * * *", "nonsense": "Schedule nonsense",
	} {
		if got := cronWords(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// A mistake in JSON is described by its line and the text before it.
func TestObject(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "{}": "", `{"a": [1]}`: "", "[]": "JSON object", "7": "JSON object", `{"a": `: "line 1",
		"{\n  \"title\": \"a\",\n  nonsense\n}": `line 2, after "\"title\": \"a\""`,
		"{} {}":                                 "line 1", `{"a": 1, "a": 2}`: "line 1",
	} {
		value, issue := parseObject(text)
		if want == "" && (issue != "" || value.Kind() != '{') || want != "" && !strings.Contains(issue, want) {
			t.Errorf("%q: %q %s", text, issue, value)
		}
	}
}
