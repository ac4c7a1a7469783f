package console_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
)

// A person adds a passkey with the browser's own authenticator, signs in with it,
// confirms with it, and removes it. Without the person's consent nothing is signed.
func TestPasskey(t *testing.T) {
	// The provider is for its button; nobody uses it here.
	service := serveAs(t, "localhost", "--oidc-issuer", "http://127.0.0.1:1", "--oidc-client-id", "x", "--oidc-name",
		"Acme ID")
	s := open(t)
	if _, err := chromedp.Call(s.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	made, err := chromedp.Call(s.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{
		Options: &webauthn.VirtualAuthenticatorOptions{Protocol: webauthn.AuthenticatorProtocolCtap2,
			Transport: webauthn.AuthenticatorTransportInternal, HasResidentKey: true, HasUserVerification: true,
			IsUserVerified: true, AutomaticPresenceSimulation: true}})
	if err != nil {
		t.Fatal(err)
	}
	person := func(verified bool) {
		t.Helper()
		if _, err := chromedp.Call(s.ctx, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{
			AuthenticatorID: made.AuthenticatorID, IsUserVerified: verified}); err != nil {
			t.Fatal(err)
		}
	}

	s.visit(service.Setup)
	s.fill("name", "Ada Lovelace", "email", "ada@example.com", "password", password, "organizationName", "Engines")
	s.press("form button")
	s.visit(service.URL + "/settings/sign-in")
	s.has("You have none")
	s.inspect("sign-in-settings")
	s.press(`a[href="/settings/sign-in/passkeys/new"]`)
	s.has("Confirm that it is you")
	s.inspect("sign-in-confirm")
	s.fill("password", password)
	s.press("main form button")
	s.has("Add a passkey")
	s.inspect("passkey-new")
	s.fill("name", "Laptop")
	s.press("form[data-passkey] button")
	s.has("Your recovery codes")
	s.inspect("recovery-codes")
	recovery := strings.Fields(eval[string](s, `document.getElementById("secret").textContent`))
	if len(recovery) != 10 {
		t.Fatalf("recovery codes: %q", recovery)
	}
	s.press("main a.btn.main")
	s.has("Passkey Laptop", "10 of your codes are unused")
	s.inspect("sign-in-settings-passkey")
	s.do(chromedp.Click(chromedp.CSS(`input[name="required"]`)))
	s.press(`form[action="/settings/sign-in/required"] button`)
	s.has("Saved.")

	signIn := func() {
		t.Helper()
		s.visit(service.URL + "/sign-out")
		s.press("main form button")
		s.has("Sign in with Acme ID")
		s.fill("email", "ada@example.com", "password", password)
		s.press("main form button")
		s.has("One more step")
	}
	s.visit(service.URL + "/sign-out")
	s.press("main form button")
	s.inspect("sign-in-provider")
	s.fill("email", "ada@example.com", "password", password)
	s.press("main form button")
	s.has("One more step")
	s.inspect("second-step")
	person(false)
	s.do(chromedp.Click(chromedp.CSS("form[data-passkey] button")))
	s.has("Nothing was sent")
	person(true)
	s.press("form[data-passkey] button")
	s.has("Today")
	// A second time: the counter has grown.
	signIn()
	s.press("form[data-passkey] button")
	s.has("Today")

	// The app for one-time codes, for its picture.
	s.visit(service.URL + "/settings/sign-in/codes")
	s.has("Confirm that it is you")
	s.inspect("sign-in-confirm-passkey")
	s.press("form[data-passkey] button")
	s.has("scan this picture")
	s.inspect("one-time-codes")
	if width := eval[float64](s, `document.querySelector("svg.qr").getBoundingClientRect().width`); width < 150 {
		t.Errorf("the picture is %v px wide", width)
	}

	// A recovery code, where the passkey is lost.
	signIn()
	s.fill("code", recovery[0])
	s.press(`form[action="/sign-in/second"] button`)
	s.has("Today")
	s.visit(service.URL + "/settings/sign-in")
	s.has("9 of your codes are unused")
	s.press(`a[href$="/remove"]`)
	s.has("Confirm that it is you")
	s.press("form[data-passkey] button")
	s.has("It is your only second factor", "Engines requires one")
	s.press("main form button.away-btn")
	// It was required, so nothing else is open before there is another one.
	s.has("Add a second factor")
	s.visit(service.URL + "/contacts")
	s.has("Add a second factor")
	s.inspect("enroll")
	s.press(`a[href^="/settings/sign-in/passkeys/new"]`)
	s.inspect("enroll-passkey")
	s.press("form[data-passkey] button")
	s.has("Your recovery codes")
	s.press("main a.btn.main")
	s.has("Contacts")
}
