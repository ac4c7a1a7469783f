package console_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// allowSpending has an owner's program let a member spend.
func allowSpending(t *testing.T, service *service, key, email string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, service.URL+"/v1/members", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var members struct {
		Data []struct{ ID, Email string }
	}
	if err := json.NewDecoder(res.Body).Decode(&members); err != nil {
		t.Fatal(err)
	}
	for _, m := range members.Data {
		if m.Email == email {
			data(t, http.MethodPatch, service.URL+"/v1/members/"+m.ID, key, `{"maySpend": true}`)
			return
		}
	}
	t.Fatalf("no member %s", email)
}

// A member who may spend finds a name, sees its price, buys it, sees that it is healthy, and
// changes its DNS.
func TestDomain(t *testing.T) {
	service := serve(t)
	s, key := begin(t, service, func(s *screen) {
		s.visit(service.URL + "/settings/cards")
		s.press(`form[action="/settings/cards"] button`) // the first card pays whatever is asked
		s.has("4242")
		for s.visit(service.URL + "/agreements"); eval[bool](s, `!!document.querySelector('[name="read"]')`); {
			s.do(chromedp.Click(chromedp.CSS(`form[action="/agreements"] input[name="read"]`)))
			s.press(`form[action="/agreements"] button`)
		}
	})
	allowSpending(t, service, key, "grace@example.com")
	s.visit(service.URL + "/")
	s.keys("gd")
	s.until("domains", `location.pathname === "/domains"`)
	s.do(chromedp.SendKeys(chromedp.CSS("#findname"), "analytical-engines"+kb.Enter))
	s.shows("analytical-engines.com")
	s.inspect("domain-search")
	price := eval[string](s, `[...document.querySelectorAll(".found tr")].find(r =>
		r.innerText.includes("analytical-engines.com")).querySelector(".num").innerText`)
	s.do(chromedp.Click(chromedp.CSS(`a[href="/domains/buy?domain=analytical-engines.com"]`)))
	s.shows("The registry needs to know")
	s.has(price)
	s.do(chromedp.Click(chromedp.CSS(`.sheet-form a.main`)))
	s.focused("firstName")
	s.fill("firstName", "Grace", "lastName", "Hopper", "email", "grace@example.com", "phone", "+14155550100",
		"address1", "1 Navy Yard", "postalCode", "20374", "city", "Washington", "stateProvince", "DC", "country", "US")
	s.inspect("domain-owner")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("is charged now") // back where it was bought, with the owner chosen
	s.has(price, "Grace Hopper", "A registration cannot be reversed")
	s.inspect("domain-buy")
	s.do(chromedp.Click(chromedp.CSS(`main form button.main`)))
	s.shows("We are registering it.")
	s.shows("analytical-engines.com") // by itself
	s.inspect("domains")
	s.do(chromedp.Click(chromedp.CSS(`tbody a`)))
	s.shows("paid until")
	for _, sign := range []string{"SPF", "DKIM", "DMARC"} {
		s.until(sign, `[...document.querySelectorAll(".health li")].some(l => l.innerText.includes("`+sign+`") &&
			!l.classList.contains("sick") && l.querySelector("svg"))`)
	}
	s.inspect("domain")

	// A DNS record: added, refused, changed and removed.
	record := func(name, content string) {
		s.do(chromedp.Click(chromedp.CSS(`a[href*="add=dns-records"]`)))
		s.until("the form", `!!document.querySelector("[name=content]")`)
		s.fill("name", name, "content", content)
		s.do(chromedp.Click(chromedp.CSS(`.kid-form button.btn`)))
	}
	record("www", "not an address")
	s.until("what is wrong", `!!document.querySelector("[aria-invalid=true]")`)
	s.inspect("domain-dns-refused")
	s.fill("content", "192.0.2.1")
	s.do(chromedp.Click(chromedp.CSS(`.kid-form button.btn`)))
	s.shows("192.0.2.1")
	s.inspect("domain-dns")
	s.do(chromedp.Click(chromedp.CSS(`a[href*="edit=dns-records"]`)))
	s.until("the form", `!!document.querySelector("[name=content]")`)
	s.fill("content", "192.0.2.2")
	s.do(chromedp.Click(chromedp.CSS(`.kid-form button.btn`)))
	s.shows("192.0.2.2")
}
