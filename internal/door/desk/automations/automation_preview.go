package automations

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/automation"
)

// previewDays is how far back a test looks.
const previewDays = 30

// previewData is what an automation would have done, as the part "preview" shows it.
type previewData struct {
	*automation.Preview
	Lead    string // the result in a sentence
	Bars    []previewBar
	Rows    []rehearsedRow
	Skipped []skippedRow
}

// previewBar is a day of the chart.
type previewBar struct {
	X, Y, Height, Above, Rest int
	Says                      string
}

// skippedRow is an event for which the condition is false.
type skippedRow struct {
	automation.SkippedRun
	Event string
	Saw   []fact
}

// preview runs an automation over the past days. It changes nothing.
func previewAutomation(v *desk.Visit, input desk.Fields) (*previewData, error) {
	asked := desk.Fields{"days": previewDays, "limit": 10}
	for _, name := range []string{"trigger", "condition", "steps", "input"} {
		if value, ok := input[name]; ok {
			asked[name] = value
		}
	}
	var found automation.Preview
	if err := v.Do("automations.preview", asked, &found); err != nil {
		return nil, err
	}
	kind, _ := input["trigger"].(desk.Fields)["kind"].(string)
	d := &previewData{Preview: &found, Lead: previewWords(kind, &found)}
	for _, r := range found.Runs {
		row := newRehearsedRow(v, r)
		if kind == "manual" {
			row.Event = "By hand"
		}
		d.Rows = append(d.Rows, row)
	}
	for _, s := range found.Skipped {
		row := skippedRow{SkippedRun: s, Event: "On schedule"}
		if s.EventType != nil {
			row.Event = desk.EventWords(*s.EventType)
		}
		for _, seen := range s.Saw {
			text := "null"
			if seen.Value != nil {
				text = string(*seen.Value)
			}
			row.Saw = append(row.Saw, fact{seen.Name, text})
		}
		d.Skipped = append(d.Skipped, row)
	}
	if kind != "manual" && found.Checked > 0 {
		d.Bars = previewBars(v, &found)
	}
	return d, nil
}

// previewWords says what a preview found.
func previewWords(kind string, p *automation.Preview) string {
	if kind == "manual" {
		return "This is what it would do now."
	}
	when := "In the last " + strconv.Itoa(previewDays) + " days"
	if !p.Complete {
		when = "Lately" // there was more than one look takes in
	}
	if p.Checked == 0 {
		return when + ", no such event happened."
	}
	found := "there were " + desk.Count(p.Checked, "such event", "such events")
	if kind == "schedule" {
		found = "it was due " + times(p.Checked)
	} else if p.Checked == 1 {
		found = "there was one such event"
	}
	ran := strconv.Itoa(p.Matched) + " of these"
	switch p.Matched {
	case p.Checked:
		ran = "all of these"
	case 0:
		ran = "none of these"
	}
	return when + ", " + found + ". It would have run for " + ran + "."
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// previewBars is a chart by day, the latest at the right.
func previewBars(v *desk.Visit, p *automation.Preview) (bars []previewBar) {
	const height, step = 48, 12
	most := 1
	byDate := map[string]automation.PreviewDay{}
	for _, d := range p.Days {
		most = max(most, d.Checked)
		byDate[d.Date] = d
	}
	scale := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(2, n*height/most)
	}
	now := v.Runner.Clock.Now().Std().UTC()
	for i := range previewDays + 1 {
		day := now.AddDate(0, 0, i-previewDays)
		d := byDate[day.Format("2006-01-02")]
		whole, ran := scale(d.Checked), scale(d.Matched)
		bars = append(bars, previewBar{X: i * step, Y: height - ran, Height: ran, Above: height - whole,
			Rest: max(0, whole-ran), Says: day.Format("2 Jan") + ": " + strconv.Itoa(d.Matched) + " of " +
				strconv.Itoa(d.Checked)})
	}
	return bars
}

// testAutomationPage shows what an automation would have done. It changes nothing,
// so a GET request is enough.
func testAutomationPage(v *desk.Visit) error {
	a, err := readAutomation(v)
	if err != nil {
		return err
	}
	d := struct {
		Automation *shownAutomation
		Form       *desk.Typed
		Manual     bool
		Tried      *previewData
	}{Automation: a, Form: desk.NewTyped("input", "{}"), Manual: a.Trigger.Kind == "manual"}
	d.Form.Values.Set("input", cmp.Or(strings.TrimSpace(v.R.URL.Query().Get("input")), "{}"))
	status := http.StatusOK
	input, issue := parseObject(d.Form.Values.Get("input"))
	if issue != "" {
		status, d.Form.Errors = http.StatusBadRequest, map[string]string{"input": issue}
	} else if d.Tried, err = previewAutomation(v, desk.Fields{"trigger": triggerFields(&a.Trigger),
		"condition": a.Condition, "steps": a.Steps, "input": input}); err != nil {
		return err
	}
	return v.ShowView(status, "automation-test",
		automationView("Test "+a.Name, automationCrumbs(desk.Crumb{Text: a.Name, Href: a.Path()},
			desk.Crumb{Text: "Test"}), d))
}

// triggerFields is a stored trigger as the operation takes it.
func triggerFields(t *automation.Trigger) desk.Fields {
	return desk.Fields{"kind": t.Kind, "event": t.Event, "cron": t.Cron, "timezone": t.Timezone}
}
