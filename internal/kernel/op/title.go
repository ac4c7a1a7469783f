package op

// titleFields are the fields that may name a row for people, the best first.
var titleFields = []string{"name", "title", "subject", "invoiceNumber", "organizationName", "resourceName", "key",
	"email", "phoneNumber", "url", "label", "address1", "body", "content", "question"}

// RowTitle is what people call a row, which is given as JSON has it, and the fields that say it.
func RowTitle(row map[string]any) (title string, fields []string) {
	for _, name := range []string{"firstName", "lastName"} {
		if s, _ := row[name].(string); s != "" {
			if title != "" {
				title += " "
			}
			title, fields = title+s, append(fields, name)
		}
	}
	if title != "" {
		return title, fields
	}
	for _, name := range titleFields {
		if s, _ := row[name].(string); s != "" {
			return s, []string{name}
		}
	}
	return "", nil
}
