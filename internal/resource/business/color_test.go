package business

import (
	"testing"

	"frontdesk/internal/account"
)

// A light color is darkened until it can be read on white; others stay.
func TestAccent(t *testing.T) {
	for text, want := range map[string]string{
		"#1F4E79": "#1f4e79",
		"#000000": "#000000",
		"#006e5a": "#006e5a",
	} {
		got := accentColorOf(&Business{BusinessFields: account.BusinessFields{Stationery: stationery(text)}})
		if got.String() != want {
			t.Errorf("%s became %s", text, got)
		}
	}
	for _, text := range []string{"#ffffff", "#ffee00", "#00ff00", "#ff8888"} {
		c := accentColorOf(&Business{BusinessFields: account.BusinessFields{Stationery: stationery(text)}})
		if ratio := c.contrastToWhite(); ratio < 4.5 || ratio > 6 {
			t.Errorf("%s became %s, with a contrast of %.2f", text, c, ratio)
		}
	}
	if c := accentColorOf(&Business{}); c != nil {
		t.Errorf("without a color: %s", c)
	}
}

func stationery(color string) account.Stationery { return account.Stationery{AccentColor: &color} }
