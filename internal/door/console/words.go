package console

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"frontdesk/internal/kernel/op"
)

// relative says how long ago or how soon a time is, while that is easier to
// read than a date.
func relative(since time.Duration, at time.Time) string {
	future := since < 0
	d := since.Abs()
	var text string
	switch {
	case d < time.Minute && !future:
		return "just now"
	case d < time.Hour:
		text = count(max(1, int(d/time.Minute)), "minute")
	case d < 24*time.Hour:
		text = count(int(d/time.Hour), "hour")
	case d < 30*24*time.Hour:
		text = count(int(d/(24*time.Hour)), "day")
	default:
		return at.Format("2 Jan 2006")
	}
	if future {
		return "in " + text
	}
	return text + " ago"
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// resourceWords are resources whose name does not follow from their key.
var resourceWords = map[string]string{"email_opt_ins": "Email opt-ins"}

func resourceWord(r string) string {
	if w := resourceWords[r]; w != "" {
		return w
	}
	return capital(strings.ReplaceAll(r, "_", " "))
}

// resourceHelp says what a resource covers, where its name does not.
var resourceHelp = map[string]string{
	"businesses": "profile, offerings, presences", "contacts": "emails, phone numbers, addresses",
	"customers": "and their transactions",
	"domains":   "registration, DNS, renewals", "files": "folders and access links",
	"properties": "custom fields and their values",
	"webhooks":   "and the event log", "invoices": "and payments", "messages": "and attachments",
}

// actionWords are the columns of the permission table.
var actionWords = map[op.Action]string{op.ActionRead: "See", op.ActionCreate: "Create", op.ActionUpdate: "Change",
	op.ActionDelete: "Delete"}

var actions = []op.Action{op.ActionRead, op.ActionCreate, op.ActionUpdate, op.ActionDelete}

func capital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// joinAnd joins words: "a, b and c".
func joinAnd(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// roleOptions are the roles; roleHelp, what they mean.
var roleOptions = []option{{"member", "Member"}, {"admin", "Admin"}, {"owner", "Owner"}}

const roleHelp = "Members work with the records. Admins also manage members, keys, agents and agreements. Owners " +
	"are admins too, and there is always at least one."

// planOptions are the plans.
var planOptions = []option{{"free", "Free"}, {"starter", "Starter"}, {"professional", "Professional"},
	{"enterprise", "Enterprise"}}

// optionText is the text of the option with a value.
func optionText(options []option, value string) string {
	for _, o := range options {
		if o.Value == value {
			return o.Text
		}
	}
	return value
}

// days reads the number of days of an option.
func days(n string) time.Duration {
	d, err := strconv.Atoi(n)
	if err != nil {
		panic(err) // the options are ours
	}
	return time.Duration(d) * 24 * time.Hour
}

// browserWords names a browser and its system, as far as its user agent tells.
func browserWords(agent string) string {
	// Each claims to be the ones after it.
	browser := firstOf(agent, "Edg", "Edge", "OPR", "Opera", "Firefox", "Firefox", "Chrome", "Chrome",
		"Safari", "Safari")
	system := firstOf(agent, "iPhone", "iPhone", "iPad", "iPad", "Android", "Android", "Windows", "Windows",
		"Mac OS", "macOS", "CrOS", "ChromeOS", "Linux", "Linux")
	switch {
	case browser == "" && system == "":
		return "An unknown browser"
	case browser == "":
		return "A browser on " + system
	case system == "":
		return browser
	}
	return browser + " on " + system
}

// firstOf is the name of the first mark that a text has, given in pairs of mark and
// name.
func firstOf(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		if strings.Contains(text, pairs[i]) {
			return pairs[i+1]
		}
	}
	return ""
}
