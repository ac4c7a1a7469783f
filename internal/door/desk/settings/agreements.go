package settings

import (
	"cmp"
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
)

type agreementKind struct {
	Kind, Title string
	Version     string
	Standings   []account.Standing
	Open        bool // some business has yet to accept
}

type agreementsData struct {
	Kinds   []agreementKind
	Manager bool
	Next    string // where to go after accepting
	Error   string
}

func agreementsPage(v *desk.Visit) error { return showAgreements(v, http.StatusOK, "") }

func showAgreements(v *desk.Visit, status int, problem string) error {
	d := agreementsData{Manager: v.Session.Manager(), Next: v.R.FormValue("next"), Error: problem}
	for _, k := range []agreementKind{{Kind: "business", Title: "Business agreement"},
		{Kind: "domain", Title: "Domain agreement"}} {
		var err error
		if k.Standings, err = desk.ListFirst[account.Standing](v, "agreements.list",
			desk.Fields{"kind": k.Kind}); err != nil {
			return err
		}
		for _, s := range k.Standings {
			k.Version = s.Version
		}
		k.Open = len(desk.Unaccepted(k.Standings)) > 0
		d.Kinds = append(d.Kinds, k)
	}
	return v.ShowView(status, "agreements",
		desk.View{Title: "Agreements", Section: "settings", Tab: "agreements",
			Crumbs: settingsCrumbs("Agreements", "/agreements"),
			Data:   d})
}

func acceptAgreement(v *desk.Visit) error {
	if v.R.PostFormValue("read") != "yes" {
		return showAgreements(v, http.StatusBadRequest,
			"Tick the box to say that you have read the agreement and may accept it for the business.")
	}
	err := v.Do("agreements.accept",
		desk.Fields{"businessId": v.Value("business_id"), "kind": v.Value("kind"),
			"version": desk.TextOrNull(v.Value("version"))}, nil)
	if err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showAgreements(v, status, cmp.Or(f.Errors["version"], f.Error, "This agreement cannot be accepted."))
	}
	if next := v.R.PostFormValue("next"); next != "" {
		return v.Redirect(desk.LocalPath(next))
	}
	return v.Done("/agreements", "accepted", nil)
}
