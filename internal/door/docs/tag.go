package docs

import (
	"strings"

	"frontdesk/internal/kernel/op"
)

// pageKeyOf is the key of the page that an operation is on: the first part of its path, or
// of its name if it is public and outside /v1.
func pageKeyOf(o *op.Op) string {
	if !strings.HasPrefix(o.Path, "/v1/") {
		first, _, _ := strings.Cut(o.Name, ".")
		return strings.ReplaceAll(first, "_", "-")
	}
	if first := o.PathSegments()[0]; first != "me" {
		return first
	}
	return "account"
}

// headingOf is the heading that an operation appears under: "Contacts", "Contact
// Emails".
func headingOf(o *op.Op) string {
	segments := o.PathSegments()
	if !strings.HasPrefix(o.Path, "/v1/") { // a public operation goes by its name, not its path
		segments = strings.Split(strings.ReplaceAll(o.Name, "_", "-"), ".")
		segments = segments[:len(segments)-1]
	}
	if (o.IsAction() || o.AnswersBytes() && !o.Public) && len(segments) > 1 {
		segments = segments[:len(segments)-1]
	}
	if segments[0] == "me" {
		return "Account"
	}
	last := titleCase(segments[len(segments)-1])
	if len(segments) == 1 {
		return last
	}
	return titleCase(Singular(segments[0])) + " " + last
}

func titleCase(segment string) string {
	if segment == "email-opt-ins" {
		return "Email Opt-ins"
	}
	words := strings.Split(segment, "-")
	for i, w := range words {
		switch w {
		case "dns":
			words[i] = "DNS"
		default:
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// Singular is the word for one of several: contact, business, policy.
func Singular(plural string) string {
	switch {
	case strings.HasSuffix(plural, "ies"):
		return strings.TrimSuffix(plural, "ies") + "y"
	case strings.HasSuffix(plural, "sses"):
		return strings.TrimSuffix(plural, "es")
	}
	return strings.TrimSuffix(plural, "s")
}
