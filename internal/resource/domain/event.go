package domain

import "frontdesk/internal/kernel/op"

// Happenings are the events that no operation emits.
var Happenings = []op.BackgroundEvent{
	{Type: "domain.created", When: "a registration succeeds"},
	{Type: "domain.expired", When: "`expiresAt` of a domain passes"},
	{Type: "domain.renewal_failed",
		When: "an automatic renewal fails; the data also has errorCode and errorMessage"},
	{Type: "domain.renewed", When: "a renewal succeeds"},
	{Type: "domain.unverified",
		When: "a domain's proof is gone, or another organization has proven the domain or registered its parent"},
	{Type: "domain.transferred", When: "a domain has moved to another registrar"},
	{Type: "domain_contact.created", Resource: "domains", When: "a registration with a contact of its own succeeds"},
	{Type: "operation.created", Resource: "domains",
		When: "a registration or renewal is paid for, automatic renewals included"},
	{Type: "operation.failed", Resource: "domains", When: "a registration or renewal fails and is refunded"},
	{Type: "operation.started", Resource: "domains", When: "the work on a registration or renewal begins"},
	{Type: "operation.succeeded", Resource: "domains", When: "a registration or renewal succeeds"},
}
