package mail

import (
	"net/http"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/message"
)

// preview shows what is in the form as its reader would see it: in a frame of the form or, without the script, in a
// tab of its own.
func preview(v *desk.Visit) error {
	in, _, err := input(v)
	if err != nil {
		return err
	}
	who, _ := id.Parse(v.Value("contactId"))
	if err := fillIn(v, in, map[string]string{}, who, ""); err != nil {
		return err
	}
	text, isText := in["text"].(string)
	if ref, ok := id.Parse(v.Value("draft")); ok && isText && v.Value("design") != "" {
		var m message.Message
		if err := v.Do("messages.get", desk.Fields{"id": ref}, &m); err != nil {
			return err
		}
		if m.HTML != nil && design(*m.HTML, text) == v.Value("design") {
			return v.Paper(http.StatusOK, m.HTML, m.Text)
		}
		in["letterhead"] = m.HTML != nil && m.Layout
	}
	asked := desk.Fields{}
	for _, name := range []string{"subject", "text", "templateId", "variables", "letterhead", "markdown"} {
		if value, ok := in[name]; ok {
			asked[name] = value
		}
	}
	var shown message.Preview
	if err := v.Do("messages.preview", asked, &shown); err != nil {
		whole, _, status, rest := desk.Refused(err)
		if rest != nil {
			return rest
		}
		return v.Paper(status, nil, &whole)
	}
	return v.MailPaper(http.StatusOK, shown.HTML, shown.Text)
}
