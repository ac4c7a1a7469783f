package draft

import (
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// VersionField is the name under which a draft keeps its version among its fields. A form has none of that name.
const VersionField = "draft version"

// tokenField is the field that keeps a form from being carried out twice. All who go on from one draft have its token.
const tokenField = "once"

// goOnFrom is the text of the draft that takes the place of another one.
func (in *draftInput) goOnFrom(before string) (string, error) {
	fields, err := url.ParseQuery(in.Fields)
	if err != nil {
		return "", fault.BadInput.New()
	}
	added, err := url.ParseQuery(in.Added)
	if err != nil {
		return "", fault.BadInput.New()
	}
	was, err := url.ParseQuery(before)
	if err != nil {
		return "", err
	}
	// A copy that the browser sends again is not foreign: it did not hear that the first one arrived.
	foreign := before != "" && !slices.Contains(append(in.From, in.Version), was.Get(VersionField))
	version := in.Version
	if foreign {
		version = string(id.New())
	}
	for name, values := range was {
		_, given := fields[name]
		switch {
		case !given && (foreign || len(added) > 0), foreign && name == tokenField:
			fields[name] = values
		case foreign && slices.Contains(in.Texts, name):
			fields[name] = joinTexts(values, fields[name])
		}
	}
	for name, values := range added {
		fields[name] = joinTexts(fields[name], values)
	}
	fields.Set(VersionField, version)
	text := fields.Encode()
	if len(text) > mostText {
		return "", fault.BadInput.New()
	}
	return text, nil
}

// joinTexts has what both texts of a field say, the second below the first. Several values of one name are rows, of
// which the last writer's count.
func joinTexts(first, second []string) []string {
	if len(first) != 1 || len(second) != 1 {
		return second
	}
	text, more := first[0], second[0]
	switch {
	case strings.Contains(text, more):
		return first
	case strings.Contains(more, text):
		return second
	case strings.Contains(text+more, "\n"):
		return []string{text + "\n" + more}
	}
	return []string{text + " " + more}
}
