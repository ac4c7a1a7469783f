package desk_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// An owner sets the business up step by step: each is saved or skipped by itself, and the letterhead shows it.
func TestSetupSteps(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		business := "/v1/businesses/" + a.SendREST(t, a.Key, "GET", "/v1/businesses", "").OK(t, 200).Text("0.id")
		p := b.get("/setup").at("/setup", "of 12 done", "Go on with the logo", "US dollar", "UTC, ")
		p.find(`<iframe class="mailpage" (src="/setup/paper" sandbox)`)
		p.find(`<details id="s-logo" (open)>`)
		p.hasNot("API key</b>", `<details id="s-bank" open`)
		quiet(t, p)

		// What is wrong is said at its field, and what was typed stays.
		p = b.post("/setup", "step", "bank", "iban", "GB00", "bankName", "Barclays").refused(400)
		p.find(`<details id="s-bank" (open)>`)
		p.find(`name="iban"[^>]*value="(GB00)"[^>]*aria-invalid="true"`)
		b.post("/setup", "step", "name", "name", " ").refused(400, "Fill this in")
		b.post("/setup", "step", "nonsense").refused(404)

		b.post("/setup", "step", "name", "name", "Okafor <Repairs>").at("/setup", "Saved.", "Okafor <Repairs>")
		b.post("/setup", "step", "bank", "iban", "GB33 BUKB 2020 1555 5555 55", "bankName", "Barclays").
			at("/setup", "Barclays, GB33BUKB20201555555555")
		b.post("/setup", "step", "address", "address", "", "email", "hello@example.com").at("/setup", "Saved.")
		if n := a.SendREST(t, a.Key, "GET", business+"/physical-presences", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d places without an address", n)
		}
		for _, address := range []string{"2 Tide Lane, Port Ellis", "3 Tide Lane, Port Ellis"} {
			b.post("/setup", "step", "address", "address", address, "email", "hello@example.com", "phone", "").
				at("/setup", address)
		}
		if n := a.SendREST(t, a.Key, "GET", business+"/physical-presences", "").OK(t, 200).Len(); n != 1 {
			t.Errorf("%d head offices", n)
		}

		// The logo: only what invoices and mail can carry, and nothing else stays behind.
		fields := map[string]string{"step": "logo"}
		b.upload("/setup", fields, "logo.txt", "no picture").refused(400, "Choose a PNG or JPEG")
		if n := a.SendREST(t, a.Key, "GET", "/v1/files", "").OK(t, 200).Len(); n != 0 {
			t.Errorf("%d files stayed", n)
		}
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
			t.Fatal(err)
		}
		b.upload("/setup", fields, "logo.png", picture.String()).at("/setup", "Your logo is on your papers")
		b.post("/setup", "step", "logo", "accentColor", "other", "other", "#123456").at("/setup", "Saved.")
		set := a.SendREST(t, a.Key, "GET", business, "").OK(t, 200)
		set.Same("accentColor", "#123456")

		paper := b.get("/setup/paper")
		paper.has("Okafor <Repairs>", "3 Tide Lane, Port Ellis", "hello@example.com", "GB33 BUKB 2020 1555 5555 55",
			"$124.00", "#123456")
		paper.find(`<img src="(data:image/png;base64,)`)
		if !strings.Contains(paper.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Error("the paper is not sandboxed")
		}
		b.get("/setup/paper?name=Typed&accentColor=red%3B%7D&iban=").has("Typed").hasNot("red;", "GB33")

		// A default is an answer too, and a step that is skipped stays so.
		b.post("/setup", "step", "timezone", "timezone", "Europe/London").at("/setup", "London, ",
			"Go on with the currency")
		b.post("/setup", "step", "currency", "currency", "usd").at("/setup").hasNot("Go on with the currency")
		b.get("/").at("/", "Finish setting up")
		for _, key := range []string{"sender", "import", "colleagues", "agreement", "agent", "invoice"} {
			b.post("/setup", "step", key, "skip", "yes").at("/setup")
		}
		b.get("/setup").at("/setup", "Everything is set up", "skipped", "Do it now")
		b.get("/").at("/").hasNot("Finish setting up")
		owner(t, a).get("/").at("/", "Finish setting up") // another browser still offers what was skipped
	})
}
