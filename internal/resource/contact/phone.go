package contact

import (
	"context"
	"strconv"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"

	"github.com/nyaruka/phonenumbers"
)

// PhoneNumber is one number that a contact can be reached on.
type PhoneNumber struct {
	op.Record
	ContactID      id.ID   `json:"contactId"`
	PhoneNumber    string  `json:"phoneNumber" doc:"E.164, for example +14155550100"`
	CountryCode    string  `json:"countryCode" doc:"the calling code, for example 44"`
	NationalNumber string  `json:"nationalNumber"`
	Label          *string `json:"label"`
}

var phoneNumbers = op.NewNested[PhoneNumber]("contact_phone_numbers", db.Life{
	Noun:         "phone number",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("contact_id", "contacts"),
	MergeRules: []db.MergeRule{
		{Where: `EXISTS (SELECT 1 FROM contact_phone_numbers k
			WHERE k.organization_id = $1 AND k.contact_id = $3 AND k.phone_number = contact_phone_numbers.phone_number
				AND k.deleted_at IS NULL)`},
	},
})

func phoneNumberOperations() []*op.Op {
	const ref = `"id": ` + exampleID + `, "phoneNumberId": "1d3c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88"`
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "contacts.phone_numbers.list",
			NounWords: "telephone, mobile, cell, ring, call, whatsapp, landline, fax, extension, number"},
			phoneNumbers),
		op.Write(op.Spec{
			Name:        "contacts.phone_numbers.create",
			Words:       "new mobile, new number",
			Route:       "POST /v1/contacts/{id}/phone-numbers",
			Summary:     "Add a phone number to a contact.",
			Description: "A number without + needs countryCode. Numbers are stored as E.164.",
			Events:      []string{"contact.phone_number.created"},
			Example:     `{"id": ` + exampleID + `, "phoneNumber": "+442079460018", "label": "work"}`,
		}, addPhoneNumber),
		op.GetChild(op.Spec{Name: "contacts.phone_numbers.get"}, phoneNumbers),
		op.Write(op.Spec{
			Name:    "contacts.phone_numbers.update",
			Words:   "mistyped, wrong number, new number",
			Route:   "PATCH /v1/contacts/{id}/phone-numbers/{phoneNumberId}",
			Summary: "Change a phone number of a contact.",
			Events:  []string{"contact.phone_number.updated"},
			Example: `{` + ref + `, "label": "home"}`,
		}, updatePhoneNumber),
		op.DeleteChild(op.Spec{Name: "contacts.phone_numbers.delete", Words: "dead, old number"}, phoneNumbers,
			func(ctx context.Context, c *op.Call, v *PhoneNumber) error {
				return refreshContact(ctx, c, v.ContactID)
			}),
	}
}

type phoneNumberFields struct {
	PhoneNumber    string  `json:"phoneNumber" min:"1" doc:"E.164, or national with countryCode"`
	CountryCode    *string `json:"countryCode" max:"4" doc:"the calling code, for example 44"`
	NationalNumber *string `json:"nationalNumber" doc:"checked against phoneNumber"`
	Label          *string `json:"label"`

	number parsedNumber
}

// parsedNumber is a number as the phone-number library reads it.
type parsedNumber struct{ e164, country, national string }

// NumberIssue is said of what is no phone number.
const NumberIssue = "Not a phone number; write it like +14155550100, or nationally with countryCode"

// parse reads the number, outside the transaction, and records an issue below
// path if it is none or does not match the other fields.
func (f *phoneNumberFields) parse(tree *fault.Tree, path ...any) *fault.Tree {
	at := func(field string) []any { return append(path[:len(path):len(path)], field) }
	if f.CountryCode != nil && !isCallingCode(*f.CountryCode) {
		return tree.At(at("countryCode"), "Not a calling code; write it like 44")
	}
	n, ok := parseNumber(f.PhoneNumber, f.CountryCode)
	switch {
	case !ok:
		return tree.At(at("phoneNumber"), NumberIssue)
	case f.CountryCode != nil && strings.TrimPrefix(*f.CountryCode, "+") != n.country:
		return tree.At(at("countryCode"), "Does not match the phone number, which has "+n.country)
	case f.NationalNumber != nil && keepDigits(*f.NationalNumber) != n.national &&
		strings.TrimLeft(keepDigits(*f.NationalNumber), "0") != n.national:
		return tree.At(at("nationalNumber"), "Does not match the phone number, which has "+n.national)
	}
	f.number = n
	return tree
}

func keepDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// isCallingCode reports whether a country or service has the code.
func isCallingCode(s string) bool {
	code, err := strconv.Atoi(strings.TrimPrefix(s, "+"))
	return err == nil && phonenumbers.GetRegionCodeForCountryCode(code) != "ZZ"
}

// parseNumber reads a number, international or dialed within the country that has the
// calling code.
func parseNumber(s string, countryCode *string) (parsedNumber, bool) {
	region := ""
	if countryCode != nil {
		code, err := strconv.Atoi(strings.TrimPrefix(*countryCode, "+"))
		if err != nil {
			return parsedNumber{}, false
		}
		switch region = phonenumbers.GetRegionCodeForCountryCode(code); {
		case region == "ZZ":
			return parsedNumber{}, false
		case region == phonenumbers.REGION_CODE_FOR_NON_GEO_ENTITY && !strings.HasPrefix(s, "+"):
			s = "+" + strconv.Itoa(code) + s // codes like 800 belong to no country and parse only this way
		}
	}
	n, err := phonenumbers.Parse(s, region)
	if err != nil || !phonenumbers.IsPossibleNumber(n) {
		return parsedNumber{}, false
	}
	return parsedNumber{phonenumbers.Format(n, phonenumbers.E164), strconv.Itoa(int(n.GetCountryCode())),
		phonenumbers.GetNationalSignificantNumber(n)}, true
}

// FormatE164 is a number in its stored form, or false if it has none. Without + it is
// read as dialed in the country, an ISO 3166 two-letter code.
func FormatE164(s, country string) (string, bool) {
	n, err := phonenumbers.Parse(s, country)
	if err != nil || !phonenumbers.IsPossibleNumber(n) {
		return "", false
	}
	return phonenumbers.Format(n, phonenumbers.E164), true
}

// PhoneForPeople writes a stored number as people do: as it is dialed within the country, an ISO 3166 two-letter code,
// or with the calling code of another one.
func PhoneForPeople(e164, country string) string {
	n, err := phonenumbers.Parse(e164, country)
	switch {
	case err != nil || !phonenumbers.IsValidNumber(n):
		return e164
	case phonenumbers.GetRegionCodeForNumber(n) == country:
		return phonenumbers.Format(n, phonenumbers.NATIONAL)
	}
	return phonenumbers.Format(n, phonenumbers.INTERNATIONAL)
}

// canonicalPhone is a number in its stored form, for filters. Text that does
// not parse is compared unchanged.
func canonicalPhone(s string) string {
	if n, ok := parseNumber(s, nil); ok {
		return n.e164
	}
	return s
}

func (f phoneNumberFields) newRow(c *op.Call, contact id.ID) PhoneNumber {
	return PhoneNumber{Record: c.NewRecord(), ContactID: contact, PhoneNumber: f.number.e164,
		CountryCode:    f.number.country,
		NationalNumber: f.number.national, Label: f.Label}
}

type phoneNumberAdd struct {
	ID id.ID `path:"id" doc:"the contact"`
	phoneNumberFields
}

func (in *phoneNumberAdd) Prepare(context.Context, *op.Call) error {
	return in.parse(nil).Fault(fault.Invalid)
}

func addPhoneNumber(ctx context.Context, c *op.Call, in phoneNumberAdd) (*PhoneNumber, error) {
	// The contact is the root: locked, so that it cannot be deleted while it gains a number.
	if err := phoneNumbers.LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	if _, err := checkChildLimit(ctx, c, phoneNumbers, in.ID); err != nil {
		return nil, err
	}
	v := in.newRow(c, in.ID)
	if err := phoneNumbers.Rows.Insert(ctx, c.Tx, &v); err != nil {
		return nil, err
	}
	if err := refreshContact(ctx, c, in.ID); err != nil {
		return nil, err
	}
	return &v, c.Emit("contact.phone_number.created", v.ID, &v)
}

type phoneNumberUpdate struct {
	ID             id.ID               `path:"id" doc:"the contact"`
	PhoneNumberID  id.ID               `path:"phoneNumberId"`
	PhoneNumber    op.Optional[string] `json:"phoneNumber" min:"1"`
	CountryCode    op.Optional[string] `json:"countryCode" max:"4"`
	NationalNumber op.Optional[string] `json:"nationalNumber"`
	Label          op.Nullable[string] `json:"label"`
}

func updatePhoneNumber(ctx context.Context, c *op.Call, in phoneNumberUpdate) (*PhoneNumber, error) {
	v, err := phoneNumbers.LockRow(ctx, c, in.ID, in.PhoneNumberID)
	if err != nil {
		return nil, err
	}
	before := *v
	if in.PhoneNumber.Set || in.CountryCode.Set || in.NationalNumber.Set {
		if err := reparseNumber(v, in); err != nil {
			return nil, err
		}
	}
	if in.Label.Set {
		v.Label = in.Label.PtrOrNil()
	}
	if samePhoneNumber(&before, v) {
		return v, nil
	}
	v.UpdatedAt = c.Now
	if err := phoneNumbers.Rows.Save(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := refreshContact(ctx, c, in.ID); err != nil {
		return nil, err
	}
	return v, c.Emit("contact.phone_number.updated", v.ID, v)
}

// reparseNumber parses the number again from the fields that were sent, and from the
// stored ones for the rest.
func reparseNumber(v *PhoneNumber, in phoneNumberUpdate) error {
	f := phoneNumberFields{PhoneNumber: v.PhoneNumber}
	switch {
	case in.PhoneNumber.Set:
		f.PhoneNumber = in.PhoneNumber.Value
	case in.NationalNumber.Set:
		f.PhoneNumber = in.NationalNumber.Value
		f.CountryCode = &v.CountryCode
	default:
		f.PhoneNumber = v.NationalNumber
	}
	if in.CountryCode.Set {
		f.CountryCode = &in.CountryCode.Value
	}
	if in.NationalNumber.Set {
		f.NationalNumber = &in.NationalNumber.Value
	}
	if tree := f.parse(nil); tree != nil {
		return tree.Fault(fault.Invalid)
	}
	v.PhoneNumber, v.CountryCode, v.NationalNumber = f.number.e164, f.number.country, f.number.national
	return nil
}

func samePhoneNumber(a, b *PhoneNumber) bool {
	label := func(p *PhoneNumber) string {
		if p.Label == nil {
			return "\x00"
		}
		return *p.Label
	}
	return a.PhoneNumber == b.PhoneNumber && label(a) == label(b)
}
