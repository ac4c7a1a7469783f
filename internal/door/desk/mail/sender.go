package mail

import (
	"net/http"
	"net/mail"
	"slices"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/resource/message"
)

// named is an address with the name beside it, as mail writes both.
func named(name *string, address string) string {
	if name == nil {
		return address
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(*name) + `" <` + address + ">"
}

// bare is an address without a name.
func bare(sender string) string {
	if a, err := mail.ParseAddress(sender); err == nil {
		return strings.ToLower(a.Address)
	}
	return strings.ToLower(sender)
}

// fillSenders offers the addresses that the mail can be from. Chosen is the one that was written to or that the draft
// has, or else the usual one.
func (w *writeData) fillSenders(v *desk.Visit) error {
	if w.Note || !v.May("messages.senders") {
		return nil
	}
	rows, _, err := desk.List[message.Sender](v, "messages.senders", desk.Fields{})
	if err != nil {
		return err
	}
	for _, s := range rows {
		o := desk.Option{Value: s.Address, Text: s.Address}
		if s.Name != nil {
			o.Text = *s.Name + " <" + s.Address + ">"
			if bare(w.From) == bare(s.Address) && w.From == named(s.Name, s.Address) {
				w.From = s.Address // the name is the usual one
			}
		}
		w.Senders = append(w.Senders, o)
	}
	if w.From == "" && len(rows) > 0 {
		w.From = rows[0].Address
	}
	i := slices.IndexFunc(w.Senders, func(o desk.Option) bool { return strings.EqualFold(o.Value, w.From) })
	if i < 0 {
		w.Senders = slices.Insert(w.Senders, 0, desk.Option{Value: w.From, Text: w.From})
	} else {
		w.From = w.Senders[i].Value
	}
	return nil
}

// mailSettings is the page where a person chooses what their mails end with.
func mailSettings(v *desk.Visit) error {
	text, err := signature(v)
	if err != nil {
		return err
	}
	return showMailSettings(v, http.StatusOK, desk.NewTyped("text", text))
}

func showMailSettings(v *desk.Visit, status int, f *desk.Typed) error {
	return v.ShowView(status, "mail-settings", desk.View{Title: "Mail", Sub: "for you alone", Section: "settings",
		Tab:    "mail",
		Crumbs: []desk.Crumb{{Text: "Settings", Href: "/settings"}, {Text: "Mail", Href: "/settings/mail"}}, Data: f})
}

func saveMailSettings(v *desk.Visit) error {
	text := plain(v.R.PostForm.Get("text"))
	if err := v.Do("signature.save", desk.Fields{"text": text}, nil); err != nil {
		f, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		return showMailSettings(v, status, f)
	}
	return v.Done("/settings/mail", "saved", nil)
}
