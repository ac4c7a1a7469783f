package webhook

import (
	"net/url"
	"strconv"

	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/peer"
)

// checkFields refuses an address that nothing could be sent to, and unknown event types. address and
// types say which of the two were sent. A name is resolved at each attempt, and only then is
// it known whether it leads to a private address.
func (s *Service) checkFields(v *Webhook, address, types bool) error {
	var tree *fault.Tree
	if address {
		if issue := s.addressIssue(v.URL); issue != "" {
			tree = tree.At([]any{"url"}, issue)
		}
	}
	if types {
		for i, t := range v.Events {
			if t != event.EveryType && !s.catalog.HasEventType(t) {
				tree = tree.At([]any{"events", i}, s.catalog.UnknownEventText(t))
			}
		}
	}
	return tree.Fault(fault.Invalid)
}

// addressIssue says what is wrong with an address; empty if nothing is.
func (s *Service) addressIssue(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		return "Must be an https address"
	}
	switch {
	case u.Scheme == "http" && s.insecure && peer.IsLoopback(u.Hostname()):
	case u.Scheme == "http" && s.insecure:
		return "Must be an https address; http is for this machine only"
	case u.Scheme != "https":
		return "Must be an https address"
	}
	if u.User != nil {
		return "Must not contain a user name or password; check the signature instead"
	}
	if u.Fragment != "" {
		return "Must not have a fragment"
	}
	if n, err := strconv.Atoi(u.Port()); u.Port() != "" && (err != nil || n < 1 || n > 65535) {
		return "Must have a port between 1 and 65535, or none"
	}
	if err := s.jobClient.CheckHost(u.Hostname()); err != nil {
		return "Must be a public address"
	}
	return ""
}
