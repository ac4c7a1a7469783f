package transfer

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
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
	kindPlain    = ""         // the text as it is
	kindWords    = "words"    // texts between commas
	kindAddress  = "address"  // a part of the postal address
	kindFullName = "fullName" // both names of a person
	kindChoice   = "choice"   // one of a few words
	kindMoment   = "moment"   // a time, or a day
)

var nouns = map[string]noun{
	"contacts": {"contacts.batch", fieldKinds[contact.Fields](map[string]string{
		"name": kindFullName, "emails": "email", "phoneNumbers": "phoneNumber", "line1": kindAddress,
		"line2": kindAddress,
		"city":  kindAddress, "state": kindAddress, "postalCode": kindAddress, "country": kindAddress,
	})},
	"customers": {"customers.batch", fieldKinds[customer.Fields](map[string]string{"externalId": kindPlain,
		"businessId": kindPlain})},
}

// fieldKinds lists the fields of a noun with their kinds, and adds them to more,
// the fields that have no plain counterpart in the noun.
func fieldKinds[F any](more map[string]string) map[string]string {
	for _, f := range op.FieldsOf[F]() {
		switch {
		case f.Enum:
			more[f.Name] = kindChoice
		case f.Type == reflect.TypeFor[[]string]():
			more[f.Name] = kindWords
		case f.Type == reflect.TypeFor[*clock.Time]():
			more[f.Name] = kindMoment
		default:
			more[f.Name] = kindPlain
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

var headingPunctuation = strings.NewReplacer(" ", "", "_", "", "-", "", ".", "")

var notLetters = regexp.MustCompile(`[^\pL]+`)

// normalizeHeading turns a heading into the spelling of otherNames: "E-mail 1 - Value",
// which Google writes, becomes email.
func normalizeHeading(heading string) string {
	s := notLetters.ReplaceAllString(strings.ToLower(heading), "")
	if short := strings.TrimSuffix(s, "value"); short != "" {
		return short
	}
	return s
}

// findField finds the field that a heading means, or returns the empty string.
func (n noun) findField(heading string) string {
	exact, name := headingPunctuation.Replace(strings.ToLower(heading)), normalizeHeading(heading)
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

// assignColumns finds the field of each column: by the caller's mapping, or by the
// headings if there is no mapping. It also returns the headings of the columns
// that are not used. Where none is used, that is refused unless mayBeUnknown.
func (n noun) assignColumns(headings []string, mapping map[string]*string, mayBeUnknown bool) (fields, ignored []string,
	err error) {
	fields, ignored = make([]string, len(headings)), []string{}
	var tree *fault.Tree
	for column, f := range mapping {
		switch at := slices.IndexFunc(headings, func(h string) bool { return equalHeadings(h, column) }); {
		case at < 0:
			tree = tree.At([]any{"mapping", column}, "The file has no such column; it has "+listHeadings(headings))
		case f == nil || *f == "":
		case n.resolveField(*f) == "":
			tree = tree.At([]any{"mapping", column}, "There is no field "+quoteHeading(*f)+"; "+
				op.DidYouMean(*f, n.fieldNames(), "the fields are "+strings.Join(n.fieldNames(), ", ")))
		default:
			fields[at] = n.resolveField(*f)
		}
	}
	if err := tree.Fault(fault.Invalid); err != nil {
		return nil, nil, err
	}
	any := false
	for i, h := range headings {
		if mapping == nil {
			fields[i] = n.findField(h)
		}
		any = any || fields[i] != ""
		if fields[i] == "" {
			ignored = append(ignored, cut.Ellipsis(h, 100))
		}
	}
	if !any && !mayBeUnknown {
		return nil, nil, fault.Field("mapping", "No column of the file is known: it has "+listHeadings(headings)+
			". Say which field each column is, for example {\"Vorname\": \"firstName\"}")
	}
	return fields, ignored, nil
}

// resolveField is the field that a mapping names, exactly or by another name for it, or
// the empty string.
func (n noun) resolveField(name string) string {
	if _, ok := n.fields[name]; ok {
		return name
	}
	return n.findField(name)
}

func (n noun) fieldNames() []string {
	out := make([]string, 0, len(n.fields))
	for f := range n.fields {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

func equalHeadings(a, b string) bool {
	return strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
}

func quoteHeading(s string) string { return fmt.Sprintf("%q", cut.Ellipsis(s, 100)) }

// listHeadings writes up to twenty headings for an error message.
func listHeadings(headings []string) string {
	out := make([]string, 0, 20)
	for _, h := range headings[:min(len(headings), 20)] {
		out = append(out, quoteHeading(h))
	}
	if len(headings) > 20 {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}

// maxListItems is how many elements of a list are kept: one more than any operation
// takes, so that the operation refuses the row instead of losing elements.
const maxListItems = 101

// fieldValue is the text that a record has for a field.
type fieldValue struct{ field, text string }

// buildRow builds the input of the operation, as JSON, from the values of a record.
func (n noun) buildRow(values []fieldValue) (jsontext.Value, error) {
	out := map[string]any{}
	place := map[string]any{}
	seen := map[fieldValue]bool{} // of the lists of objects
	for _, v := range values {
		text := strings.TrimSpace(op.UnescapeFormula(strings.TrimSpace(v.text)))
		if text == "" {
			continue
		}
		switch kind := n.fields[v.field]; kind {
		case kindPlain:
			out[v.field] = text
		case kindChoice:
			out[v.field] = strings.ToLower(text)
		case kindMoment:
			if len(text) == len("2026-01-31") {
				text += "T00:00:00Z"
			}
			out[v.field] = text
		case kindWords:
			list, _ := out[v.field].([]string)
			list = append(list, splitList(text)...)
			out[v.field] = list[:min(len(list), maxListItems)]
		case kindFullName:
			first, last := "", text
			if i := strings.LastIndexByte(text, ' '); i > 0 {
				first, last = strings.TrimSpace(text[:i]), text[i+1:]
			}
			for f, part := range map[string]string{"firstName": first, "lastName": last} {
				if out[f] == nil && part != "" {
					out[f] = part
				}
			}
		case kindAddress:
			place[v.field] = text
		default:
			list, _ := out[v.field].([]map[string]string)
			for _, part := range splitList(text) {
				if one := (fieldValue{v.field, part}); !seen[one] && len(list) < maxListItems {
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

// splitList splits a text at its commas, or at its semicolons if it has no comma.
func splitList(text string) (out []string) {
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
