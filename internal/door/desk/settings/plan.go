package settings

import (
	"fmt"
	"net/http"

	"frontdesk/internal/account"
	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/limit"
)

type planRow struct {
	Name    string
	Limits  []int // per minute, in the order of the allowances
	Current bool
}

// allowanceRow is an allowance as it stands at this moment.
type allowanceRow struct {
	Allowance
	Used, Limit int
	Waiting     int
	Percent     int
	Back        int // seconds until all of it is back
}

// Level is the colour for how much of the allowance is used.
func (r *allowanceRow) Level() string {
	switch {
	case r.Used >= r.Limit:
		return "bad"
	case r.Percent >= 80:
		return "warn"
	}
	return ""
}

type planData struct {
	Organization account.Organization
	Plan         string
	Allowances   []allowanceRow
	Plans        []planRow
	Usage        account.Usage
	Storage      string // "1.5 of 10 GB"
	Clients      int
}

func (room *Room) planPage(v *desk.Visit) error {
	var d planData
	if err := v.Do("organizations.get", desk.Fields{}, &d.Organization); err != nil {
		return err
	}
	if err := v.Do("organizations.usage", desk.Fields{}, &d.Usage); err != nil {
		return err
	}
	const gigabyte = 1 << 30
	d.Storage = fmt.Sprintf("%s of %.4g GB", desk.Size(d.Usage.StorageBytes),
		float64(room.Storage[d.Organization.Plan])/gigabyte)
	clients, err := room.Connections(v)
	if err != nil {
		return err
	}
	d.Clients = len(clients)
	for _, a := range room.Allowances {
		left, waiting, err := a.Look(v.R.Context(), d.Organization.ID, d.Organization.Plan)
		if err != nil {
			return err
		}
		row := allowanceRow{Allowance: a, Used: left.Limit - left.Remaining, Limit: left.Limit, Waiting: waiting,
			Back: limit.CeilSeconds(left.Reset)}
		row.Percent = 100 * row.Used / max(row.Limit, 1)
		d.Allowances = append(d.Allowances, row)
	}
	for _, p := range planOptions {
		row := planRow{Name: p.Text, Current: p.Value == d.Organization.Plan}
		for _, a := range room.Allowances {
			row.Limits = append(row.Limits, a.ByPlan[p.Value])
		}
		if row.Current {
			d.Plan = p.Text
		}
		d.Plans = append(d.Plans, row)
	}
	return v.ShowView(http.StatusOK, "plan",
		desk.View{Title: "Plan and usage", Section: "settings", Tab: "plan",
			Crumbs: settingsCrumbs("Plan", "/settings/plan"),
			Data:   d})
}
