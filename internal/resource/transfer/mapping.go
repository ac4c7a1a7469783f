package transfer

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// noun is a kind of record that can be imported.
type noun struct {
	batch  string            // the batch operation that writes the rows
	fields map[string]string // the field names that a column can have, and the kind of each: see below
}

// The kinds of fields: how the text of a cell becomes a part of the row. Any
// other kind is the name of a key: the cell then becomes a list of objects with
// that key, as emails become [{"email": …}].
const (
	plain    = ""         // the text as it is
	words    = "words"    // texts between commas
	address  = "address"  // a part of the postal address
	fullName = "fullName" // both names of a person
	choice   = "choice"   // one of a few words
	moment   = "moment"   // a time, or a day
)

var nouns = map[string]noun{
	"contacts": {"contacts.batch", fieldsOf[contact.Fields](map[string]string{
		"name": fullName, "emails": "email", "phoneNumbers": "phoneNumber", "line1": address, "line2": address,
		"city": address, "state": address, "postalCode": address, "country": address,
	})},
	"customers": {"customers.batch", fieldsOf[customer.Fields](map[string]string{"externalId": plain,
		"businessId": plain})},
}

// fieldsOf lists the fields of a noun with their kinds, and adds them to more,
// the fields that have no plain counterpart in the noun.
func fieldsOf[F any](more map[string]string) map[string]string {
	for _, f := range op.FieldsOf[F]() {
		switch {
		case f.Enum:
			more[f.Name] = choice
		case f.Type == reflect.TypeFor[[]string]():
			more[f.Name] = words
		case f.Type == reflect.TypeFor[*clock.Time]():
			more[f.Name] = moment
		default:
			more[f.Name] = plain
		}
	}
	return more
}

// otherNames are the headings that people and other programs use for a field, in
// lower case and without spaces, punctuation and digits.
var otherNames = map[string][]string{
	"firstName":        {"first", "givenname", "forename"},
	"middleName":       {"middle", "additionalname"},
	"lastName":         {"last", "surname", "familyname"},
	"prefix":           {"nameprefix", "title", "salutation"},
	"suffix":           {"namesuffix"},
	"organizationName": {"company", "companyname", "organization", "organisation", "organizationvalue"},
	"jobTitle":         {"job", "position", "organizationtitle"},
	"birthday":         {"birthdate", "dateofbirth"},
	"notes":            {"note", "comment", "comments"},
	"externalId":       {"external", "externalnumber"},
	"name":             {"fullname", "displayname", "customer", "customername", "contactname"},
	"tags":             {"tag", "labels", "label", "groups", "groupmembership", "categories"},
	"emails":           {"email", "emailaddress", "emailaddresses", "mail"},
	"email":            {"emails", "emailaddress", "mail"},
	"phoneNumbers":     {"phone", "phonenumber", "telephone", "tel", "mobile", "mobilephone", "businessphone"},
	"phone":            {"phonenumber", "phonenumbers", "telephone", "tel", "mobile"},
	"line1":            {"street", "address", "streetaddress", "addressline", "homestreet", "businessstreet"},
	"city":             {"town", "homecity", "businesscity"},
	"state":            {"region", "province", "homestate", "businessstate"},
	"postalCode":       {"zip", "zipcode", "postcode", "homepostalcode", "businesspostalcode"},
	"country":          {"countrycode"},
	"type":             {"customertype"},
	"status":           {"customerstatus"},
	"customerSince":    {"since"},
}

var signs = strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")

var notLetters = regexp.MustCompile(`[^\pL]+`)

// nameOf turns a heading into the spelling of otherNames: "E-mail 1 - Value",
// which Google writes, becomes email.
func nameOf(heading string) string {
	s := notLetters.ReplaceAllString(strings.ToLower(heading), "")
	if short := strings.TrimSuffix(s, "value"); short != "" {
		return short
	}
	return s
}

// field finds the field that a heading means, or returns the empty string.
func (n noun) field(heading string) string {
	exact, name := signs.Replace(strings.ToLower(heading)), nameOf(heading)
	for f := range n.fields {
		if own := strings.ToLower(f); own == exact || own == name {
			return f
		}
	}
	for f := range n.fields {
		if slices.Contains(otherNames[f], name) {
			return f
		}
	}
	return ""
}

// assign finds the field of each column: by the caller's mapping, or by the
// headings if there is no mapping. It also returns the headings of the columns
// that are not used.
func (n noun) assign(headings []string, mapping map[string]*string) (fields, ignored []string, err error) {
	fields, ignored = make([]string, len(headings)), []string{}
	var tree *fault.Tree
	for column, f := range mapping {
		switch at := slices.IndexFunc(headings, func(h string) bool { return sameHeading(h, column) }); {
		case at < 0:
			tree = tree.At([]any{"mapping", column}, "The file has no such column; it has "+listed(headings))
		case f == nil || *f == "":
		case n.known(*f) == "":
			tree = tree.At([]any{"mapping", column}, "There is no field "+quoted(*f)+"; "+
				op.DidYouMean(*f, n.names(), "the fields are "+strings.Join(n.names(), ", ")))
		default:
			fields[at] = n.known(*f)
		}
	}
	if err := tree.Fault(fault.Invalid); err != nil {
		return nil, nil, err
	}
	any := false
	for i, h := range headings {
		if mapping == nil {
			fields[i] = n.field(h)
		}
		any = any || fields[i] != ""
		if fields[i] == "" {
			ignored = append(ignored, clip(h, 100))
		}
	}
	if !any {
		return nil, nil, fault.Field("mapping", "No column of the file is known: it has "+listed(headings)+
			". Say which field each column is, for example {\"Vorname\": \"firstName\"}")
	}
	return fields, ignored, nil
}

// known is the field that a mapping names, exactly or by another name for it, or
// the empty string.
func (n noun) known(name string) string {
	if _, ok := n.fields[name]; ok {
		return name
	}
	return n.field(name)
}

func (n noun) names() []string {
	out := make([]string, 0, len(n.fields))
	for f := range n.fields {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

func sameHeading(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

func quoted(s string) string { return fmt.Sprintf("%q", clip(s, 100)) }

// listed writes up to twenty headings for an error message.
func listed(headings []string) string {
	out := make([]string, 0, 20)
	for _, h := range headings[:min(len(headings), 20)] {
		out = append(out, quoted(h))
	}
	if len(headings) > 20 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

func clip(s string, n int) string {
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}

// maxList is how many elements of a list are kept: one more than any operation
// takes, so that the operation refuses the row instead of losing elements.
const maxList = 101

// value is the text that a record has for a field.
type value struct{ field, text string }

// row builds the input of the operation, as JSON, from the values of a record.
func (n noun) row(values []value) (jsontext.Value, error) {
	out := map[string]any{}
	place := map[string]any{}
	seen := map[value]bool{} // of the lists of objects
	for _, v := range values {
		text := strings.TrimSpace(op.WasFormula(strings.TrimSpace(v.text)))
		if text == "" {
			continue
		}
		switch kind := n.fields[v.field]; kind {
		case plain:
			out[v.field] = text
		case choice:
			out[v.field] = strings.ToLower(text)
		case moment:
			if len(text) == len("2026-01-31") {
				text += "T00:00:00Z"
			}
			out[v.field] = text
		case words:
			list, _ := out[v.field].([]string)
			list = append(list, split(text)...)
			out[v.field] = list[:min(len(list), maxList)]
		case fullName:
			first, last := "", text
			if i := strings.LastIndexByte(text, ' '); i > 0 {
				first, last = strings.TrimSpace(text[:i]), text[i+1:]
			}
			for f, part := range map[string]string{"firstName": first, "lastName": last} {
				if out[f] == nil && part != "" {
					out[f] = part
				}
			}
		case address:
			place[v.field] = text
		default:
			list, _ := out[v.field].([]map[string]string)
			for _, part := range split(text) {
				if one := (value{v.field, part}); !seen[one] && len(list) < maxList {
					seen[one] = true
					list = append(list, map[string]string{kind: part})
				}
			}
			out[v.field] = list
		}
	}
	if len(place) > 0 {
		out["addresses"] = []any{place}
	}
	return json.Marshal(out, json.Deterministic(true))
}

// split splits a text at its commas, or at its semicolons if it has no comma.
func split(text string) (out []string) {
	separator := ","
	if !strings.Contains(text, separator) {
		separator = ";"
	}
	for _, part := range strings.Split(text, separator) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
