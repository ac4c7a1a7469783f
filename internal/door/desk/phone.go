package desk

import (
	"frontdesk/internal/resource/contact"

	"golang.org/x/text/language"
)

// region is the country of the business, by its language and region: "DE" of "de-DE".
func (v *Visit) region() string {
	tag, err := language.Parse(v.CurrentBusiness().Locale)
	if err != nil {
		return ""
	}
	region, _ := tag.Region()
	return region.String()
}

// DialedNumber is a phone number as the API takes it. Without + it is read as it is dialed in the business's country.
// What is no number comes back as it is, for the operation to refuse.
func (v *Visit) DialedNumber(text string) string {
	if number, ok := contact.FormatE164(text, v.region()); ok {
		return number
	}
	return text
}

// Phone writes a phone number as people do: as it is dialed within the business's country, others with their code.
func (v *Visit) Phone(number string) string { return contact.PhoneForPeople(number, v.region()) }
