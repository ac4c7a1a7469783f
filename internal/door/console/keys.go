package console

import (
	"net/http"
	"slices"
	"strings"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

const keysPath = "/settings/keys"

func keyCrumbs(more ...crumb) []crumb { return settingsCrumbs("API keys", keysPath, more...) }

// keyRow is a key as the list shows it.
type keyRow struct {
	account.Key
	Business string
	May      string
	State    badge
}

func (v *visit) keysPage() error {
	keys, err := listPage[account.Key](v, "api_keys.list", nil)
	if err != nil {
		return err
	}
	names, err := v.businessNames()
	if err != nil {
		return err
	}
	rows := sheet[keyRow]{Earlier: keys.Earlier, Later: keys.Later}
	now := v.Runner.Clock.Now()
	for _, k := range keys.Rows {
		rows.Rows = append(rows.Rows, keyRow{k, names[k.BusinessID], keyWords(k.Permissions), keyState(k, now)})
	}
	return v.show(http.StatusOK, "keys", view{Title: "API keys", Section: "settings", Tab: "keys", Crumbs: keyCrumbs(),
		Main: mainUnless(len(rows.Rows) == 0, "Create key", keysPath+"/new"), Data: struct {
			Keys sheet[keyRow]
			Many bool // the organization has several businesses
		}{rows, len(names) > 1}})
}

func keyState(k account.Key, now clock.Time) badge {
	switch {
	case k.RevokedAt != nil:
		return badge{"revoked", "bad"}
	case k.ExpiresAt != nil && *k.ExpiresAt <= now:
		return badge{"expired", "warn"}
	}
	return badge{"active", "good"}
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
		return "Reads " + count(reads, "resource")
	}
	return "Reads " + count(reads, "resource") + ", writes " + count(writes, "resource")
}

// businessNames are the organization's businesses by id.
func (v *visit) businessNames() (map[id.ID]string, error) {
	rows, err := listFirst[account.Business](v, "businesses.list", fields{"sortOrder": "asc"})
	out := map[id.ID]string{}
	for _, b := range rows {
		out[b.ID] = b.Name
	}
	return out, err
}

// businessChoice is the organization's businesses as a choice.
func (v *visit) businessChoice() ([]option, error) {
	rows, err := listFirst[account.Business](v, "businesses.list", fields{"sortOrder": "asc"})
	out := make([]option, len(rows))
	for i, b := range rows {
		out[i] = option{string(b.ID), b.Name}
	}
	return out, err
}

type keyData struct {
	Form       *form
	Businesses []option
	Resources  []keyResource
	Expiries   []option
	Made       *account.NewKey
	Once       secretOnce
	BaseURL    string
	Agreed     bool
}

// keyResource is a row of the key's permission table.
type keyResource struct{ Name, Word, Help string }

func keyResources() (out []keyResource) {
	for _, r := range op.Resources() {
		out = append(out, keyResource{r, resourceWord(r), resourceHelp[r]})
	}
	return out
}

// grants are the permissions that were ticked.
func (v *visit) grants() []string {
	ticked := v.r.PostForm["permissions"]
	if slices.Contains(ticked, "*") {
		return []string{"*"}
	}
	return append([]string{}, ticked...)
}

var expiries = []option{{"", "Never"}, {"30", "In 30 days"}, {"90", "In 90 days"}, {"365", "In a year"}}

func (v *visit) newKeyPage() error {
	f := blank("business_id", string(v.session.Business))
	switch v.r.URL.Query().Get("preset") {
	case "read":
		for _, r := range op.Resources() {
			f.Values.Add("permissions", r+":read")
		}
	case "all":
		f.Values.Set("permissions", "*")
	}
	return v.showNewKey(http.StatusOK, keyData{Form: f})
}

func (v *visit) showNewKey(status int, d keyData) error {
	var err error
	if d.Businesses, err = v.businessChoice(); err != nil {
		return err
	}
	d.Expiries, d.BaseURL = expiries, v.BaseURL
	d.Resources = keyResources()
	title := "Create an API key"
	if d.Made != nil {
		title = "API key " + d.Made.Name
		standings, err := listFirst[account.Standing](v, "agreements.list", nil)
		if err != nil {
			return err
		}
		for _, s := range standings {
			d.Agreed = d.Agreed || s.BusinessID == d.Made.BusinessID && s.AcceptedAt != nil
		}
	}
	return v.show(status, "key",
		view{Title: title, Section: "settings", Tab: "keys", Crumbs: keyCrumbs(crumb{"New", ""}), Data: d})
}

func (v *visit) createKey() error {
	input := fields{"businessId": v.value("business_id"), "name": v.value("name"), "permissions": v.grants()}
	for _, o := range expiries[1:] {
		if v.value("expires") == o.Value {
			input["expiresAt"] = v.Runner.Clock.Now().Add(days(o.Value))
		}
	}
	var made account.NewKey
	if err := v.do("api_keys.create", input, &made); err != nil {
		f, status, err := v.refused(err, map[string]string{"businessId": "business_id"})
		if err != nil {
			return err
		}
		return v.showNewKey(status, keyData{Form: f})
	}
	return v.showNewKey(http.StatusOK, keyData{Form: blank(), Made: &made,
		Once: secretOnce{"This is the key. Send it with every request as a bearer token.", made.Token, keysPath}})
}

func (v *visit) revokeKeyPage() error {
	ref, err := v.pathID("id")
	if err != nil {
		return err
	}
	var k account.Key
	if err := v.do("api_keys.get", fields{"id": ref}, &k); err != nil {
		return err
	}
	used := "It was never used."
	if k.LastUsedAt != nil {
		used = "It was last used " + relative(v.Runner.Clock.Now().Sub(*k.LastUsedAt), k.LastUsedAt.Std()) + "."
	}
	return v.ask(question{Title: "Revoke the key " + k.Name, Section: "settings", Tab: "keys",
		Crumbs: keyCrumbs(crumb{k.Name, ""}, crumb{"Revoke", ""}),
		Lead: "The key " + k.Name + ", which begins with " + k.Hint +
			", stops working with its next request. This cannot be undone.",
		Lost:   []string{"Programs that use it are refused.", used},
		Button: "Revoke key", Back: keysPath})
}

func (v *visit) revokeKey() error { return v.act("api_keys.revoke", keysPath, "revoked") }
