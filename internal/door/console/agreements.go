package console

import (
	"cmp"
	"net/http"
	"net/url"

	"frontdesk/internal/account"
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

func (v *visit) agreementsPage() error { return v.showAgreements(http.StatusOK, "") }

func (v *visit) showAgreements(status int, problem string) error {
	d := agreementsData{Manager: v.session.Manager(), Next: v.r.FormValue("next"), Error: problem}
	for _, k := range []agreementKind{{Kind: "business", Title: "Business agreement"},
		{Kind: "domain", Title: "Domain agreement"}} {
		var err error
		if k.Standings, err = listFirst[account.Standing](v, "agreements.list", fields{"kind": k.Kind}); err != nil {
			return err
		}
		for _, s := range k.Standings {
			k.Version = s.Version
		}
		k.Open = len(unaccepted(k.Standings)) > 0
		d.Kinds = append(d.Kinds, k)
	}
	return v.show(status, "agreements",
		view{Title: "Agreements", Section: "settings", Tab: "agreements",
			Crumbs: settingsCrumbs("Agreements", "/agreements"),
			Data:   d})
}

func (v *visit) acceptAgreement() error {
	if v.r.PostFormValue("read") != "yes" {
		return v.showAgreements(http.StatusBadRequest,
			"Tick the box to say that you have read the agreement and may accept it for the business.")
	}
	err := v.do("agreements.accept",
		fields{"businessId": v.value("business_id"), "kind": v.value("kind"),
			"version": textOrNull(v.value("version"))}, nil)
	if err != nil {
		f, status, err := v.refused(err, nil)
		if err != nil {
			return err
		}
		return v.showAgreements(status, cmp.Or(f.Errors["version"], f.Error, "This agreement cannot be accepted."))
	}
	if next := v.r.PostFormValue("next"); next != "" {
		v.redirect(localPath(next))
		return nil
	}
	return v.done("/agreements", "accepted")
}

// agreementsThen is the agreements page that then leads to another.
func agreementsThen(path string) string { return "/agreements?next=" + url.QueryEscape(path) }
