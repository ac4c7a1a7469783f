package desk

import (
	"slices"

	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/business"
)

// Where an organization has several businesses, the reader chooses one in the
// frame, or all. The choice is kept in a cookie; it narrows the lists whose
// operation can filter by business, and says whose locale and currency pages use.

const (
	businessCookie  = "desk_business"
	everyBusiness   = "all" // in the address: what was chosen does not count
	businessFilter  = "businessId"
	mostBusinesses  = 100
	allBusinessWord = "All businesses"
)

// businesses are those of the organization, the oldest first.
func (v *Visit) businesses() []business.Business {
	if v.firms == nil {
		rows, _, err := List[business.Business](v, "businesses.list",
			Fields{"limit": mostBusinesses, "sortOrder": "asc"})
		if err != nil {
			v.Log.WarnContext(v.R.Context(), "the businesses could not be read", "trace_id", v.ID, "err", err)
		}
		v.firms = append([]business.Business{}, rows...)
	}
	return v.firms
}

// firm is a business by its id, or nil.
func (v *Visit) firm(ref id.ID) *business.Business {
	all := v.businesses()
	if i := slices.IndexFunc(all, func(b business.Business) bool { return b.ID == ref }); i >= 0 {
		return &all[i]
	}
	return nil
}

// chosen is the business that the reader looks at, or nil for all.
func (v *Visit) chosen() *business.Business {
	if len(v.businesses()) < 2 {
		return nil
	}
	return v.firm(id.ID(v.cookieText(businessCookie)))
}

// CurrentBusiness is the business that pages speak for: the chosen one, or that of the
// session.
func (v *Visit) CurrentBusiness() *business.Business {
	if v.house != nil {
		return v.house
	}
	if v.house = v.chosen(); v.house == nil {
		v.house = v.firm(v.Session.Business)
	}
	if v.house == nil {
		v.house = &business.Business{}
		v.house.Name, v.house.Timezone = v.Session.OrgName, v.Session.Timezone
		v.house.Locale, v.house.Currency = "en-US", "usd"
	}
	return v.house
}

// Chosen adds the chosen business to what an operation is asked for, where it can
// filter by business and none was named.
func (v *Visit) Chosen(operation string, in Fields) Fields {
	switch b := v.chosen(); {
	case in[businessFilter] == everyBusiness:
		delete(in, businessFilter)
	case in[businessFilter] == nil && b != nil && v.property(operation, businessFilter) != nil:
		in[businessFilter] = b.ID
	}
	return in
}

// chooseBusiness keeps what the reader chose in the frame.
func chooseBusiness(v *Visit) error {
	ref := id.ID(v.Value("business"))
	if v.firm(ref) == nil {
		ref = ""
	}
	v.keep(businessCookie, string(ref))
	return v.Redirect(v.Back("/"))
}

// BusinessNames are the organization's businesses by id.
func (v *Visit) BusinessNames() map[id.ID]string {
	out := map[id.ID]string{}
	for _, b := range v.businesses() {
		out[b.ID] = b.Name
	}
	return out
}

// BusinessOptions are the organization's businesses as a choice.
func (v *Visit) BusinessOptions() (out []Option) {
	for _, b := range v.businesses() {
		out = append(out, Option{string(b.ID), b.Name})
	}
	return out
}
