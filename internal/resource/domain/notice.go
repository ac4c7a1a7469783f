package domain

import (
	"fmt"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
)

// Notice is a mail to the owners of an organization: what happened, and what to
// do.
type Notice struct {
	Subject string
	Text    []string // paragraphs
	Domain  id.ID    // that it is about
	Payment bool     // a payment failed

	keepsName bool // the domain keeps its name, because only its proof has lapsed
}

// formatDay is a date as notices write it.
func formatDay(t clock.Time) string { return t.Std().UTC().Format("2 January 2006") }

// The ends of notices.

const mailStoppedText = "Until then nothing is sent from it, its hosted email is off, and mail to it is not accepted."

const recordsRemovedText = " The DNS records that it had here are removed."

// Instructions name the call of the API, because the organization's agents read
// notices too.

func verifyInstruction(v *Domain) string { return "call POST /v1/domains/" + string(v.ID) + "/verify" }
func renewInstruction(v *Domain) string {
	return "call POST /v1/domains/" + string(v.ID) + "/registration/renew"
}
func payOrRenewInstruction(v *Domain) string {
	return "Check the default card in the console, or " + renewInstruction(v) + "."
}

// proofLapsedNotice is for a domain whose TXT record has not been found for too long.
func proofLapsedNotice(v *Domain) Notice {
	return Notice{Domain: v.ID, keepsName: true, Subject: v.Name + " is no longer verified", Text: []string{
		fmt.Sprintf("The TXT record that proves that %s is yours has not been found since %s.",
			v.Name, formatDay(v.unseenSince())),
		fmt.Sprintf("To use the domain again, publish this TXT record at %s.%s, then %s:",
			verificationLabel, v.Name, verifyInstruction(v)),
		*v.VerificationValue,
		mailStoppedText,
	}}
}

// unseenSince is when the proof of a domain was first missed.
func (v *Domain) unseenSince() clock.Time {
	if v.ProofGoneAt != nil {
		return *v.ProofGoneAt
	}
	return *v.ProofSeenAt
}

// lostToProofNotice is for a domain whose name another organization proved, or ordered.
func lostToProofNotice(v *Domain, name string, now clock.Time, ordered bool) Notice {
	did := "proved that it controls " + name
	if ordered {
		did = "ordered the registration of " + name
	}
	return Notice{Domain: v.ID, Subject: name + " is no longer verified", Text: []string{
		fmt.Sprintf("On %s another organization %s, and the DNS no longer had your TXT record at %s.%s.",
			formatDay(now), did, verificationLabel, v.Name),
		fmt.Sprintf("If the name is still yours, find out who changed its DNS. "+
			"Publish your TXT record again, remove those you do not know, then %s.", verifyInstruction(v)),
		mailStoppedText + recordsRemovedText,
	}}
}

// lostRegistrationNotice is for a domain whose registration here ended, and whose name another
// organization has now.
func lostRegistrationNotice(v *Domain, name string, now clock.Time, ordered bool) Notice {
	did := "proved that it controls " + name
	if ordered {
		did = "ordered the registration of " + name
	}
	return Notice{Domain: v.ID, Subject: name + " belongs to somebody else now", Text: []string{
		fmt.Sprintf("The registration of %s ended on %s and was not renewed. On %s another organization %s.",
			v.Name, formatDay(*v.ExpiresAt), formatDay(now), did),
		"Nothing is sent from the name here any more, and mail to it is not accepted." + recordsRemovedText,
	}}
}

// lostToParentNotice is for a domain below a name that another organization registered here.
func lostToParentNotice(v *Domain, name string, now clock.Time) Notice {
	return Notice{Domain: v.ID, Subject: v.Name + " is no longer verified", Text: []string{
		fmt.Sprintf("On %s another organization registered %s. "+
			"It now decides about the names below it, and %s is one of them.", formatDay(now), name, v.Name),
		fmt.Sprintf("To use %s again, ask the holder of %s to publish your TXT record, then %s.",
			v.Name, name, verifyInstruction(v)),
		mailStoppedText + recordsRemovedText,
	}}
}

// zoneRemovedNotice is for a domain that stays verified, but whose zone is removed because the
// domain above it does not delegate it.
func zoneRemovedNotice(v *Domain, name string, now clock.Time) Notice {
	return Notice{Domain: v.ID, Subject: "The DNS records of " + v.Name + " were removed", Text: []string{
		fmt.Sprintf("On %s another organization proved that it controls %s, and its zone does not delegate %s.",
			formatDay(now), name, v.Name),
		fmt.Sprintf("%s is still verified, but its DNS records here are removed. To have them here again, "+
			"ask the holder of %s to add NS records for %s, and create them again.", v.Name, name, v.Name),
	}}
}

func renewalFailedNotice(v *Domain, reason string) Notice {
	return Notice{Domain: v.ID, Payment: true, Subject: v.Name + " could not be renewed", Text: []string{
		fmt.Sprintf("The automatic renewal of %s failed: %s", v.Name, reason),
		fmt.Sprintf("The registration ends on %s. The renewal is tried again every day. %s",
			formatDay(*v.ExpiresAt), payOrRenewInstruction(v)),
	}}
}

// expiringNotice is for a registration that ends soon and is not renewed.
func expiringNotice(v *Domain) Notice {
	do := fmt.Sprintf("It does not renew itself. To keep it, %s.", renewInstruction(v))
	if *v.AutoRenew {
		do = "Its automatic renewal has failed so far, and is tried again every day. " + payOrRenewInstruction(v)
	}
	return Notice{Domain: v.ID, Subject: v.Name + " expires on " + formatDay(*v.ExpiresAt), Text: []string{
		fmt.Sprintf("The registration of %s ends on %s. After that, mail and websites under the name stop working, "+
			"and in the end others can register it.", v.Name, formatDay(*v.ExpiresAt)),
		do,
	}}
}
