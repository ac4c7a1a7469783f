package settings

import (
	"net/http"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/op"
)

const keysPath = "/settings/keys"

func keyCrumbs(more ...desk.Crumb) []desk.Crumb { return settingsCrumbs("API keys", keysPath, more...) }

// keyRow is a key as the list shows it.
type keyRow struct {
	account.Key
	Business string
	May      string
	State    desk.Pill
}

func keysPage(v *desk.Visit) error {
	keys, err := desk.ListSheet[account.Key](v, "api_keys.list", nil)
	if err != nil {
		return err
	}
	names := v.BusinessNames()
	rows := desk.Sheet[keyRow]{Earlier: keys.Earlier, Later: keys.Later}
	now := v.Runner.Clock.Now()
	for _, k := range keys.Rows {
		rows.Rows = append(rows.Rows, keyRow{k, names[k.BusinessID], keyWords(k.Permissions), keyState(k, now)})
	}
	return v.ShowView(http.StatusOK, "api-keys", desk.View{Title: "API keys", Section: "settings", Tab: "keys",
		Crumbs: keyCrumbs(), Main: desk.MainUnless(len(rows.Rows) == 0, "Create key", keysPath+"/new"), Data: struct {
			Keys desk.Sheet[keyRow]
			Many bool // the organization has several businesses
		}{rows, len(names) > 1}})
}

func keyState(k account.Key, now clock.Time) desk.Pill {
	switch {
	case k.RevokedAt != nil:
		return desk.Pill{Text: "revoked", Tone: "bad"}
	case k.ExpiresAt != nil && *k.ExpiresAt <= now:
		return desk.Pill{Text: "expired", Tone: "warn"}
	}
	return desk.Pill{Text: "active", Tone: "good"}
}

// keyWords says in a few words what a key may do.
func keyWords(grants []string) string {
	p, err := op.ParseGrants(grants)
	if err != nil {
		return strings.Join(grants, ", ")
	}
	if p == op.Everything() {
		return "Everything"
	}
	reads, writes := 0, 0
	for _, r := range op.Resources() {
		if p.Allow(r, op.ActionRead) {
			reads++
		}
		if p.Allow(r, op.ActionUpdate) {
			writes++
		}
	}
	switch {
	case writes == 0 && reads == len(op.Resources()):
		return "Reads everything"
	case writes == 0:
		return "Reads " + desk.Count(reads, "resource", "resources")
	}
	return "Reads " + desk.Count(reads, "resource", "resources") + ", writes " + desk.Count(writes, "resource",
		"resources")
}

type keyData struct {
	Form       *desk.Typed
	Businesses []desk.Option
	Resources  []keyResource
	Expiries   []desk.Option
	Made       *account.NewKey
	Once       *desk.Secret
	BaseURL    string
	Agreed     bool
}

// keyResource is a row of the key's permission table.
type keyResource struct{ Name, Word, Help string }

func keyResources() (out []keyResource) {
	for _, r := range op.Resources() {
		out = append(out, keyResource{r, desk.ResourceWord(r), desk.ResourceHelp[r]})
	}
	return out
}

// tickedGrants are the permissions that were ticked.
func tickedGrants(v *desk.Visit) []string {
	ticked := v.R.PostForm["permissions"]
	if slices.Contains(ticked, "*") {
		return []string{"*"}
	}
	return append([]string{}, ticked...)
}

var expiries = []desk.Option{{Text: "Never"}, {Value: "30", Text: "In 30 days"}, {Value: "90", Text: "In 90 days"},
	{Value: "365", Text: "In a year"}}

func newKeyPage(v *desk.Visit) error {
	f := desk.NewTyped("business_id", string(v.Session.Business))
	switch v.R.URL.Query().Get("preset") {
	case "read":
		for _, r := range op.Resources() {
			f.Values.Add("permissions", r+":read")
		}
	case "all":
		f.Values.Set("permissions", "*")
	}
	return showNewKey(v, http.StatusOK, keyData{Form: f})
}

func showNewKey(v *desk.Visit, status int, d keyData) error {
	d.Businesses = v.BusinessOptions()
	d.Expiries, d.BaseURL = expiries, v.BaseURL
	d.Resources = keyResources()
	title := "Create an API key"
	if d.Made != nil {
		title = "API key " + d.Made.Name
		standings, err := desk.ListFirst[account.Standing](v, "agreements.list", nil)
		if err != nil {
			return err
		}
		for _, s := range standings {
			d.Agreed = d.Agreed || s.BusinessID == d.Made.BusinessID && s.AcceptedAt != nil
		}
	}
	return v.ShowView(status, "key",
		desk.View{Title: title, Section: "settings", Tab: "keys", Crumbs: keyCrumbs(desk.Crumb{Text: "New"}), Data: d})
}

func createKey(v *desk.Visit) error {
	input := desk.Fields{"businessId": v.Value("business_id"), "name": v.Value("name"), "permissions": tickedGrants(v)}
	for _, o := range expiries[1:] {
		if v.Value("expires") == o.Value {
			input["expiresAt"] = v.Runner.Clock.Now().Add(days(o.Value))
		}
	}
	var made account.NewKey
	if err := v.Do("api_keys.create", input, &made); err != nil {
		f, status, err := v.Refused(err, map[string]string{"businessId": "business_id"})
		if err != nil {
			return err
		}
		return showNewKey(v, status, keyData{Form: f})
	}
	return showNewKey(v, http.StatusOK, keyData{Form: desk.NewTyped(), Made: &made,
		Once: v.NewSecret("This is the key. Send it with every request as a bearer token.", made.Token, keysPath)})
}

func revokeKeyPage(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var k account.Key
	if err := v.Do("api_keys.get", desk.Fields{"id": ref}, &k); err != nil {
		return err
	}
	used := "It was never used."
	if k.LastUsedAt != nil {
		used = "It was last used on " + v.When(*k.LastUsedAt).Exact + "."
	}
	return v.Ask(desk.Question{Title: "Revoke the key " + k.Name, Section: "settings", Tab: "keys",
		Crumbs: keyCrumbs(desk.Crumb{Text: k.Name}, desk.Crumb{Text: "Revoke"}),
		Lead: "The key " + k.Name + ", which begins with " + k.Hint +
			", stops working with its next request. This cannot be undone.",
		Lost:   []string{"Programs that use it are refused.", used},
		Button: "Revoke key", Back: keysPath})
}

func revokeKey(v *desk.Visit) error { return v.DoWithID("api_keys.revoke", keysPath, "revoked") }
