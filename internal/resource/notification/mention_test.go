package notification

import (
	"strings"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/id"
)

func TestMentions(t *testing.T) {
	var members []account.Colleague
	for _, name := range []string{"Ann Lee", "Anna Berg", "Maya Okafor", "Maya Olsen", "Tomás Brandão", "王小明",
		"ليلى حدّاد", "Ann-Marie Roy", "Maya Okafor Junior", "  "} {
		members = append(members, account.Colleague{ID: id.ID(name), Name: name})
	}
	for text, want := range map[string]string{
		"@Ann Lee, please":                  "Ann Lee",
		"@anna can do it":                   "Anna Berg",
		"@ANN!":                             "Ann Lee",
		"@Annabel is somebody else":         "",
		"@Ann-Marie knows":                  "Ann-Marie Roy",
		"(@Ann) and @Tomás.":                "Ann Lee, Tomás Brandão",
		"@toma\u0301s brandão's machine":    "Tomás Brandão", // letters that are composed
		"@tomas has no accent":              "",
		"@Maya is two people":               "Maya Okafor, Maya Olsen, Maya Okafor Junior",
		"@Maya Okafor is one":               "Maya Okafor",
		"@Maya Okafor Junior is another":    "Maya Okafor Junior",
		"@王小明请看":                            "王小明",
		"@ليلى hello":                       "ليلى حدّاد",
		"write to ada@ann.example":          "",
		"@ann@example.com and x.@ann":       "",
		"@ann.lee":                          "",
		"@Ann @Ann Lee @ann":                "Ann Lee",
		"@":                                 "",
		"an @ alone, @ Ann":                 "",
		strings.Repeat("@", 5000) + " @Ann": "Ann Lee",
	} {
		var got []string
		for _, v := range mentioned(text, members) {
			got = append(got, string(v))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%.60q names %q, want %q", text, got, want)
		}
	}
}
