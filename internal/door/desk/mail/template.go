package mail

import (
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/door/desk/people"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"
	"frontdesk/internal/resource/template"
)

// useTemplate puts the template that the address names into the form. A value
// that nobody knows stays as [its name], for the writer to fill in: it is not sent
// so.
func (w *writeData) useTemplate(v *desk.Visit, who *id.ID, customer id.ID) error {
	ref, ok := id.Parse(v.R.URL.Query().Get("template"))
	if !ok || w.Note {
		return nil
	}
	known, err := values(v, desk.IDOrEmpty(who), customer)
	if err != nil {
		return err
	}
	made, _, err := render(v, ref, known)
	if err != nil {
		return err
	}
	w.Template, w.Text, w.Focus = string(ref), strings.TrimSpace(made.Text), true
	if w.New || w.Subject == "" {
		w.Subject = made.Subject
	}
	return nil
}

// render renders a template with what is known. What has no value has the
// template's own default, or stays as [its name]; variables are what was filled in.
func render(v *desk.Visit, ref id.ID, known map[string]string) (made template.Rendered, variables desk.Fields,
	err error) {
	var t template.EmailTemplate
	if err := v.Do("email_templates.get", desk.Fields{"id": ref}, &t); err != nil {
		return made, nil, err
	}
	variables = desk.Fields{}
	for _, name := range t.Variables {
		if known[name] != "" {
			set(variables, strings.Split(name, "."), known[name])
		}
	}
	err = v.Do("email_templates.preview", desk.Fields{"id": ref, "variables": variables}, &made)
	if missing, ok := fault.FromError(err).Details.(map[string][]string); err != nil && ok &&
		fault.IsKind(err, template.VariableMissing) {
		for _, name := range missing["variables"] {
			set(variables, strings.Split(name, "."), "["+name+"]")
		}
		err = v.Do("email_templates.preview", desk.Fields{"id": ref, "variables": variables}, &made)
	}
	return made, variables, err
}

func set(to desk.Fields, path []string, value string) {
	for _, name := range path[:len(path)-1] {
		below, ok := to[name].(desk.Fields)
		if !ok {
			below = desk.Fields{}
			to[name] = below
		}
		to = below
	}
	to[path[len(path)-1]] = value
}

// values are what templates commonly name, by their placeholders.
func values(v *desk.Visit, who, bill id.ID) (map[string]string, error) {
	out := map[string]string{"business.name": v.CurrentBusiness().Name, "user.name": v.Session.Name}
	put := func(name string, value *string) {
		if value != nil && *value != "" {
			out[name] = *value
		}
	}
	if who != "" && v.May("contacts.get") {
		var c contact.Contact
		if err := v.Do("contacts.get", desk.Fields{"id": who}, &c); err != nil && !fault.IsKind(err, fault.NotFound) {
			return nil, err
		}
		name, email := people.Name(&c), people.Email(&c)
		if c.FirstName == nil && c.LastName == nil && c.OrganizationName == nil {
			name = "" // an address is no name to greet somebody by
		}
		for _, prefix := range []string{"contact.", "customer.", ""} {
			put(prefix+"name", &name)
			put(prefix+"firstName", c.FirstName)
			put(prefix+"lastName", c.LastName)
			put(prefix+"organizationName", c.OrganizationName)
			put(prefix+"jobTitle", c.JobTitle)
			put(prefix+"email", &email)
		}
		if bill == "" {
			bill = customerOf(v, who)
		}
	}
	if bill == "" || !v.May("customers.get") {
		return out, nil
	}
	var u customer.Customer
	if err := v.Do("customers.get", desk.Fields{"id": bill}, &u); err != nil {
		if fault.IsKind(err, fault.NotFound) {
			return out, nil
		}
		return nil, err
	}
	put("customer.name", &u.Name)
	put("customer.email", u.Email)
	return out, nil
}

// customerOf is the customer that a contact belongs to, if there is one and no other.
func customerOf(v *desk.Visit, who id.ID) id.ID {
	if !v.May("customers.list") {
		return ""
	}
	rows, _, err := desk.List[customer.Customer](v, "customers.list", desk.Fields{"contactId": who, "limit": 2})
	if err != nil || len(rows) != 1 {
		return ""
	}
	return rows[0].ID
}

// contactAt is the contact whom a mail goes to: the one with its first address.
func contactAt(v *desk.Visit, to string) *id.ID {
	list, issue := addresses(v, to)
	if issue != "" || len(list) == 0 || !v.May("contacts.list") {
		return nil
	}
	rows, _, err := desk.List[contact.Contact](v, "contacts.list", desk.Fields{"email": list[0], "limit": 2})
	if err != nil || len(rows) != 1 {
		return nil
	}
	return &rows[0].ID
}

// gap is a placeholder that is still to be filled in, as render leaves it.
var gap = regexp.MustCompile(`\[([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)\]`)

// findGaps finds what is still open in the text, to be shown beside it.
func (w *writeData) findGaps(v *desk.Visit) error {
	marks := gap.FindAllString(w.Subject+"\n"+w.Text, -1)
	if w.Note || len(marks) == 0 {
		return nil
	}
	names, err := placeholders(v)
	for _, mark := range marks {
		if slices.Contains(names, mark[1:len(mark)-1]) && !slices.Contains(w.Gaps, mark) {
			w.Gaps = append(w.Gaps, mark)
		}
	}
	return err
}

// fillIn fills in what a template left open and is known by now, says at its place
// what is not, and keeps the template's design. who and bill may be unknown; then
// the first address tells. A draft may have gaps; they are filled in before it goes.
func fillIn(v *desk.Visit, in desk.Fields, wrong map[string]string, who, bill id.ID) error {
	text, _ := in["text"].(string)
	subject, _ := in["subject"].(string)
	used, has := id.Parse(v.Value("template"))
	if !has && !gap.MatchString(text) && !gap.MatchString(subject) {
		return nil
	}
	if who == "" {
		if found := contactAt(v, v.Value("to")); found != nil {
			who = *found
		}
	}
	known, err := values(v, who, bill)
	if err != nil {
		return err
	}
	names, err := placeholders(v)
	if err != nil {
		return err
	}
	for field, from := range map[string]string{"text": text, "subject": subject} {
		in[field] = gap.ReplaceAllStringFunc(from, func(mark string) string {
			name := mark[1 : len(mark)-1]
			switch {
			case !slices.Contains(names, name):
			case known[name] != "":
				return known[name]
			case sends(v) && v.Value("gaps") != "yes" && wrong[field] == "":
				wrong[field] = "Write what belongs in place of " + mark + ", or delete it"
			}
			return mark
		})
	}
	if !has || len(wrong) > 0 {
		return nil
	}
	return keepDesign(v, in, used, known)
}

// keepDesign sends a mail as its template designs it: all of it where the text is
// the template's, and the letterhead around a text that was changed.
func keepDesign(v *desk.Visit, in desk.Fields, used id.ID, known map[string]string) error {
	made, variables, err := render(v, used, known)
	if fault.IsKind(err, fault.NotFound) { // deleted meanwhile: the text is what the person read
		return nil
	}
	if err != nil {
		return err
	}
	var t template.EmailTemplate
	if err := v.Do("email_templates.get", desk.Fields{"id": used}, &t); err != nil {
		return err
	}
	switch text := in["text"].(string); {
	case text == plain(strings.TrimSpace(made.Text)) && t.Status == "active":
		delete(in, "text")
		delete(in, "markdown")
		in["templateId"], in["variables"] = used, variables
	case t.BodyFormat == "markdown" && text != "":
		in["letterhead"] = true
	}
	return nil
}

// placeholders are the names that a mark can have: those of the templates.
func placeholders(v *desk.Visit) (names []string, err error) {
	if !v.May("email_templates.list") {
		return nil, nil
	}
	for offset := 0; ; offset += 100 {
		rows, page, err := desk.List[template.EmailTemplate](v, "email_templates.list",
			desk.Fields{"limit": 100, "offset": offset})
		for i := range rows {
			names = append(names, rows[i].Variables...)
		}
		if err != nil || !page.HasMore {
			return names, err
		}
	}
}
