package console_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// fakeStripe starts a stand-in for Stripe, which the test can kill.
func fakeStripe(t *testing.T) (address string, process *os.Process) {
	t.Helper()
	bin := os.Getenv("FRONTDESK_FAKE_STRIPE")
	if bin == "" {
		t.Skip("run by scripts/judge-console")
	}
	cmd := exec.CommandContext(context.Background(), bin)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait() // its error says that it was killed
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the fake printed no address")
	}
	return lines.Text(), cmd.Process
}

// scripts turns JavaScript off or on again.
func (s *screen) scripts(on bool) {
	s.t.Helper()
	if _, err := chromedp.Call(s.ctx, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: !on}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) at() string { return eval[string](s, `location.href`) }

// A person saves a card at the payment provider and comes back: with it,
// without it, twice, and with an address of somebody else.
func TestCards(t *testing.T) {
	stripe, process := fakeStripe(t)
	service := serve(t, "--payments-provider", "stripe", "--stripe-secret-key", "sk_test_123", "--stripe-url", stripe,
		"--stripe-checkout-url", stripe)
	s := open(t)
	setUp(s, service)
	cards := service.URL + "/settings/cards"
	button := `form[action="/settings/cards"] button`

	s.visit(cards)
	if strings.Contains(s.text(), "sandbox") {
		t.Error("sandbox cards are offered beside a real provider")
	}
	s.inspect("cards-stripe-empty")
	s.press(button)
	if !strings.HasPrefix(s.at(), stripe+"/checkout/") {
		t.Fatalf("the button leads to %s", s.at())
	}
	abandoned := s.at()[strings.LastIndex(s.at(), "/")+1:]
	s.has("This is not Stripe")
	s.press("#cancel")
	s.has("No card was added.")
	s.inspect("card-canceled")
	s.visit(cards + "/saved?page=" + abandoned)
	s.has("The card is not saved", "Back to the cards")
	s.inspect("card-not-saved")

	// Without JavaScript, on a small screen.
	s.scripts(false)
	s.size(390, "light")
	s.visit(cards)
	s.press(button)
	first := s.at()[strings.LastIndex(s.at(), "/")+1:]
	s.press("#save")
	s.has("Card saved. It is the default now.", "Mastercard ending in 4444")
	s.scripts(true)
	s.size(1280, "light")
	s.visit(cards + "?done=card")
	s.inspect("card-saved")

	// The return address once more, then as somebody else.
	back := cards + "/saved?page=" + first
	s.visit(back)
	s.has("This card is already saved.")
	if n := strings.Count(s.text(), "Mastercard ending in 4444"); n != 1 {
		t.Errorf("%d cards", n)
	}
	s.inspect("card-again")
	s.visit(back + "9")
	s.has("No card setup was started here")
	s.inspect("card-of-nobody")
	other := elsewhere(t, s, service)
	s.visit(back)
	s.has("No card setup was started here")
	s.visit(cards)
	s.has("No card yet")
	s.press(`form[action="/sign-out"] button`)
	signIn(s, service, "ada@example.com", password)

	// The provider does not answer, on the way out and on the way back.
	s.visit(cards)
	s.press(button)
	second := s.at()[strings.LastIndex(s.at(), "/")+1:]
	s.press("#save")
	s.has("Card saved.")
	s.press(button)
	third := s.at()[strings.LastIndex(s.at(), "/")+1:]
	process.Signal(syscall.SIGKILL)
	process.Wait()
	s.visit(cards + "/saved?page=" + third)
	s.has("The payment provider does not answer", "Try again")
	s.inspect("card-down")
	s.visit(cards)
	s.press(button)
	s.has("The payment provider does not answer as it should")
	s.inspect("cards-down")
	s.press(`a[href$="/delete"]`)
	s.inspect("card-stripe-delete")

	// A new password by a link from the operator.
	s.press(`form[action="/sign-out"] button`)
	s.visit(passwordLink(t, service, other))
	s.inspect("reset")
	s.fill("password", "short")
	s.press("form button")
	s.has("Too short")
	s.inspect("reset-error")
	s.fill("password", "another long sentence")
	s.press("form button")
	s.has("you are signed out everywhere")
	s.inspect("reset-done")
	signIn(s, service, other, "another long sentence")
	t.Logf("%d pages: %s; pages of the fake: %s %s %s", len(s.seen), strings.Join(s.seen, ", "), abandoned, first,
		second)
}

func signIn(s *screen, service *service, email, password string) {
	s.t.Helper()
	s.visit(service.URL + "/sign-in")
	s.fill("email", email, "password", password)
	s.press("main form button")
	s.has("Today")
}

// operate runs an operator's command beside the server.
func operate(t *testing.T, service *service, in string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), os.Getenv("FRONTDESK_BIN"),
		append(arguments, service.Where...)...)
	cmd.Stdin, cmd.Stderr = strings.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", arguments, err)
	}
	return string(out)
}

// field finds a value by its name in what a command printed.
func field(t *testing.T, out, name string) string {
	t.Helper()
	for line := range strings.Lines(out) {
		if words := strings.Fields(line); len(words) > 1 && strings.TrimSuffix(words[0], ":") == name {
			return words[1]
		}
	}
	t.Fatalf("no %s in %s", name, out)
	return ""
}

// elsewhere signs in as the owner of another organization.
func elsewhere(t *testing.T, s *screen, service *service) (email string) {
	t.Helper()
	email = "grace@example.com"
	org := field(t, operate(t, service, "", "admin", "org", "create", "--name", "Flow-Matic", "--plan", "free"),
		"organizationId")
	operate(t, service, password+"\n", "admin", "user", "create", "--org", org, "--email", email, "--name", "Grace",
		"--role", "owner", "--password-stdin")
	s.press(`form[action="/sign-out"] button`)
	signIn(s, service, email, password)
	return email
}

func passwordLink(t *testing.T, service *service, email string) string {
	t.Helper()
	return field(t, operate(t, service, "", "admin", "user", "password-link", email), "url")
}
