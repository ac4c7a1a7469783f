package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// person is a contact as all databases get it. It has no emails or numbers:
// the peer would keep those in the same row, which would not be the same work.
type person struct {
	first, middle, last, organization, title, birthday, notes string
}

// Words to search for: one that is in about every fortieth contact, one that
// is in five of a million, and such as are in none.
const (
	commonWord  = "smith"
	rareWord    = "Quillfeather"
	missingWord = "xylqzu"
	missingMix  = "smithsonmar" // common trigrams that never stand together
	missingPair = "qx"          // one or two letters are the beginning of a word
	rareEvery   = 200_000
)

var (
	firsts = strings.Fields(`Mary James Olivia Liam Emma Noah Amelia Oliver Sophia Elijah Charlotte Mateo Isabella
		Lucas Ava Levi Mia Ezra Luna Asher
		Anna Jan Zofia Piotr Ewa Tomasz Ingrid Lars Freya Søren Chloé Étienne Aïcha Youssef Fatima Omar Priya Arjun
			Ananya Rohan Yuki Haruto Sakura Ren
		Wei Li Mei Jun Ngozi Chidi Amara Kwame Zanele Thabo Sofía Diego Valentina Santiago Camila Thiago Giulia
			Lorenzo Elena Dimitri Nadia Ivan`)
	lasts = strings.Fields(`Johnson Williams Brown Jones García Miller Davis Rodriguez Martinez Hernandez Lopez
		Wilson Anderson Thomas Taylor Moore
		Jackson Martin Lee Perez Thompson White Harris Sanchez Clark Ramirez Lewis Robinson Nowak Kowalski Müller
			Schmidt Schneider Fischer Weber
		Dubois Moreau Laurent Rossi Russo Ferrari Silva Santos Oliveira Okafor Adeyemi Mensah Dlamini Tanaka Sato
			Suzuki Yamamoto Chen Wang Zhang
		Nguyen Tran Kim Park Singh Sharma Patel Khan Hussain Andersen Nielsen Lindqvist Virtanen Novák Horváth
			Popescu Ivanova`)
	trades = strings.Fields(`Analytics Bakery Carpentry Dental Electric Florists Gardens Holdings Insurance
		Joinery Kitchens Logistics Motors Nursery
		Optics Plumbing Quarries Roofing Surveyors Textiles Upholstery Veterinary Weddings Yoga`)
	forms  = strings.Fields(`Ltd LLC GmbH SA AB Inc BV SpA`)
	titles = []string{"Owner", "Office manager", "Buyer", "Head of operations", "Accountant", "Site manager",
		"Director of sales", "Receptionist"}
	notes = []string{"Prefers a call in the morning.", "Asked for a quote in spring; follow up before the trade fair.",
		"Pays on time. Wants invoices by post.",
		"Met at the open day. Interested in the larger model, but only if delivery is before June.",
		"Second site opens next year."}
)

// personAt is the contact number i, the same in every database and every run.
func personAt(i int) person {
	r := rand.New(rand.NewPCG(uint64(i), 0x6672_6f6e_7464_6573))
	p := newPerson(r)
	if r.IntN(40) == 0 {
		p.last = "Smith"
	}
	if i%rareEvery == 137 {
		p.last = rareWord
	}
	return p
}

func newPerson(r *rand.Rand) person {
	pick := func(words []string) string { return words[r.IntN(len(words))] }
	p := person{first: pick(firsts), last: pick(lasts), title: pick(titles), notes: pick(notes)}
	if r.IntN(3) == 0 {
		p.middle = pick(firsts)
	}
	if r.IntN(4) > 0 {
		p.organization = pick(lasts) + " " + pick(trades) + " " + pick(forms)
	}
	if r.IntN(4) == 0 {
		p.birthday = fmt.Sprintf("%d-%02d-%02d", 1940+r.IntN(65), 1+r.IntN(12), 1+r.IntN(28))
	}
	return p
}

// search is the text that contacts are found by: the lower-case words of the
// names, a space before each, as the service makes it. No name here needs more
// folding than ToLower; a search for one of them checks it after the fill.
func (p person) search() string {
	var b strings.Builder
	for _, s := range []string{p.first, p.middle, p.last, p.organization} {
		for _, word := range strings.Fields(strings.ToLower(s)) {
			b.WriteByte(' ')
			b.WriteString(word)
		}
	}
	return b.String()
}

// appendJSON writes the person as a create request's body, to either server.
func (p person) appendJSON(b []byte) []byte {
	sep := byte('{')
	for _, f := range [...]struct{ name, value string }{{"firstName", p.first}, {"middleName", p.middle},
		{"lastName", p.last},
		{"organizationName", p.organization}, {"jobTitle", p.title}, {"birthday", p.birthday}, {"notes", p.notes}} {
		if f.value == "" {
			continue
		}
		b = append(b, sep, '"')
		b = append(b, f.name...)
		b = append(b, `":"`...)
		b = append(b, f.value...) // none of the words needs escaping
		b = append(b, '"')
		sep = ','
	}
	return append(b, '}')
}
