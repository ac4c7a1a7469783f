package desk

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/resource/draft"

	"github.com/go-json-experiment/json"
)

// Drafts: the script of an open page keeps what is typed into a form, under the address
// that the form is sent to, and puts it back when the form is opened again, here or on
// another device. A form that is sent takes its draft along. With the draft goes the token of its form: if the server
// died after it did what was asked and before it said so, sending the form again does nothing.

// draftPlaces are the forms that the visitor has begun.
func (v *Visit) draftPlaces() []string {
	var d draft.Places
	if err := v.Do("drafts.places", Fields{}, &d); err != nil {
		v.Log.WarnContext(v.R.Context(), "the drafts could not be listed", "trace_id", v.ID, "err", err)
	}
	return d.Places
}

// saveDraft keeps what is typed. Forms with passwords have no drafts.
func saveDraft(v *Visit) error {
	posted := v.R.PostForm
	place := posted.Get("place")
	fields := url.Values{}
	if !IsLocalPath(place) {
		return fault.BadInput.New()
	}
	added := url.Values{}
	var texts []string
	for name, values := range posted {
		if name, ok := strings.CutPrefix(name, "f."); ok {
			fields[name] = values
		}
		if name, ok := strings.CutPrefix(name, "t."); ok {
			fields[name], texts = values, append(texts, name)
		}
		if name, ok := strings.CutPrefix(name, "m."); ok {
			added[name] = values
		}
	}
	var d draft.Draft
	if err := v.Do("drafts.save", Fields{"place": place, "fields": fields.Encode(), "added": added.Encode(),
		"texts":   texts,
		"version": posted.Get("version"), "from": posted["from"]}, &d); err != nil {
		return err
	}
	return v.answerDraft(&d)
}

// readDraft answers the script with what was typed.
func readDraft(v *Visit) error {
	var d draft.Draft
	if err := v.Do("drafts.get", Fields{"place": v.R.URL.Query().Get("place")}, &d); err != nil {
		return err
	}
	return v.answerDraft(&d)
}

func (v *Visit) answerDraft(d *draft.Draft) error {
	fields, err := url.ParseQuery(d.Fields)
	if err != nil {
		return err
	}
	version := fields.Get(draft.VersionField)
	delete(fields, draft.VersionField)
	text, err := json.Marshal(map[string]any{"fields": fields, "saved": v.savedWords(d.SavedAt), "version": version})
	if err != nil {
		return err
	}
	SetHeaders(v.W, "")
	v.W.Header().Set("Content-Type", "application/json")
	v.W.Write(text) //nolint:errcheck // the visitor is gone
	return nil
}

// savedWords says when a draft was kept: "at 9:12 AM", "on Nov 12".
func (v *Visit) savedWords(at clock.Time) string {
	text := v.When(at).Text
	switch {
	case at.Std().In(v.Zone()).YearDay() == v.Now().Std().In(v.Zone()).YearDay():
		return "at " + text
	case text == "yesterday":
		return text
	}
	return "on " + text
}

func discardDraft(v *Visit) error {
	if err := v.Do("drafts.discard", Fields{"place": v.Value("place")}, nil); err != nil {
		return err
	}
	v.W.WriteHeader(http.StatusNoContent)
	return nil
}

// dropDraft forgets the draft of a form that was sent and not refused.
func (v *Visit) dropDraft() {
	if v.R.Method != http.MethodPost || v.Session == nil || v.MustEnroll() ||
		!slices.Contains(v.draftPlaces(), v.R.URL.Path) {
		return
	}
	if err := v.Do("drafts.discard", Fields{"place": v.R.URL.Path}, nil); err != nil {
		v.Log.WarnContext(v.R.Context(), "a draft was not discarded", "trace_id", v.ID, "err", err)
	}
}
