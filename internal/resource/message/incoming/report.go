package incoming

import (
	"strings"

	"github.com/jhillyerd/enmime/v2"
)

// Report is what a mail server says about a mail that it could not deliver (RFC
// 3464). Nothing proves that we sent that mail, or that a mail server wrote it.
type Report struct {
	MessageID string    // of that mail, without brackets; empty if not given
	Failed    []Failure // the addresses it cannot be delivered to
}

// Failure is an address that a mail did not reach.
type Failure struct {
	Address string // empty if not given
	Reason  string // the server's words
}

func (f Failure) String() string {
	if f.Address == "" {
		return f.Reason
	}
	return f.Address + ": " + f.Reason
}

// parseReport parses a delivery report; nil if the mail is not one.
func parseReport(root *enmime.Part) *Report {
	if root.ContentType != "multipart/report" {
		return nil
	}
	var r *Report
	for p := range allParts(root) {
		switch p.ContentType {
		case "message/delivery-status", "message/global-delivery-status":
			if r == nil {
				r = &Report{}
			}
			r.readDeliveryStatus(string(p.Content[:min(len(p.Content), maxHeader)]))
		default: // the explanation for people, and the mail itself
		}
	}
	if r == nil {
		return nil
	}
	for p := range allParts(root) {
		switch p.ContentType {
		case "message/rfc822", "text/rfc822-headers", "message/global", "message/global-headers":
			begin := string(p.Content[:min(len(p.Content), maxHeader)])
			head, _, _ := strings.Cut(strings.ReplaceAll(begin, "\r\n", "\n"), "\n\n")
			if ids := parseMessageIDs(parseHeaderFields(head).firstValue("message-id")); len(ids) > 0 &&
				r.MessageID == "" {
				r.MessageID = ids[0]
			}
		default:
		}
	}
	return r
}

// readDeliveryStatus reads the groups of fields of a delivery status, which empty lines
// separate: the first is about the mail, and each that follows is about one
// address.
func (r *Report) readDeliveryStatus(text string) {
	for _, group := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		f := parseHeaderFields(group)
		// The other actions are delayed, delivered, relayed and expanded: it
		// may still arrive.
		if strings.EqualFold(f.firstValue("action"), "failed") && len(r.Failed) < MaxAddresses {
			r.Failed = append(r.Failed, parseFailure(f))
		}
	}
}

// parseFailure is what a server said about an address.
func parseFailure(f headerFields) Failure {
	said := func(name string) string { // without its type: "smtp; 550 …", "rfc822; ada@…"
		v := f.firstValue(name)
		if _, after, ok := strings.Cut(v, ";"); ok {
			v = after
		}
		return BoundedLine(v, maxName)
	}
	address, reason := said("final-recipient"), said("diagnostic-code")
	if address == "" {
		address = said("original-recipient")
	}
	status := BoundedLine(f.firstValue("status"), 20)
	if reason == "" {
		reason = "no reason given"
	}
	if status != "" && !strings.Contains(reason, status) {
		reason = status + " " + reason
	}
	v := Failure{Reason: reason}
	if a := firstOrNil(parseAddresses(address)); a != nil {
		v.Address = a.Address
	}
	return v
}
