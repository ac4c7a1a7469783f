package console

import (
	"net/http"

	"frontdesk/internal/account"
)

type planRow struct {
	Name        string
	API, Agents int
	Current     bool
}

type planData struct {
	Organization account.Organization
	Plan         string
	Now          planRow
	Plans        []planRow
	Usage        account.Usage
	Clients      int
}

func (v *visit) planPage() error {
	var d planData
	if err := v.do("organizations.get", fields{}, &d.Organization); err != nil {
		return err
	}
	if err := v.do("organizations.usage", fields{}, &d.Usage); err != nil {
		return err
	}
	clients, err := v.connections()
	if err != nil {
		return err
	}
	d.Clients = len(clients)
	for _, p := range planOptions {
		row := planRow{p.Text, v.Limits[p.Value], v.AgentLimits[p.Value], p.Value == d.Organization.Plan}
		if row.Current {
			d.Plan, d.Now = p.Text, row
		}
		d.Plans = append(d.Plans, row)
	}
	return v.show(http.StatusOK, "plan", view{Title: "Plan and usage", Section: "settings", Tab: "plan", Crumbs: settingsCrumbs("Plan", "/settings/plan"), Data: d})
}
