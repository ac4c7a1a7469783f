package settings

import (
	"strconv"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
)

// roleOptions are the roles; roleHelp, what they mean.
var roleOptions = []desk.Option{{Value: "member", Text: "Member"}, {Value: "admin", Text: "Admin"},
	{Value: "owner", Text: "Owner"}}

const roleHelp = "Members work with the records. Admins also manage members, keys, agents and agreements. Owners " +
	"are admins too, and there is always at least one."

// planOptions are the plans.
var planOptions = []desk.Option{{Value: "free", Text: "Free"}, {Value: "starter", Text: "Starter"},
	{Value: "professional", Text: "Professional"}, {Value: "enterprise", Text: "Enterprise"}}

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

// sessionRow is a session as the list shows it.
type sessionRow struct{ account.OpenSession }

// From is the address that it came from. One of IPv4 stands alone; of IPv6 only the
// network is kept.
func (s *sessionRow) From() string { return strings.TrimSuffix(s.Address, "/32") }

// Browser names the browser.
func (s *sessionRow) Browser() string { return browserWords(s.UserAgent) }
