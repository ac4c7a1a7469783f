package domain_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/domain"
)

// saved saves a registrant for later.
func (w *world) saved() string {
	w.t.Helper()
	return w.post("/v1/domain-contacts", company).OK(w.t, 201).Text("id")
}

// orderFor orders a name for a saved registrant.
func (w *world) orderFor(name, contact string) string {
	w.t.Helper()
	body := fmt.Sprintf(`{"domain": %q, "maxAmountCents": 100000, "contactId": %q}`, name, contact)
	return w.post("/v1/domain-registrations", body, "Idempotency-Key",
		string(id.New())).OK(w.t, 202).Text("operationId")
}

// agree asserts that the registrar has the registrant of a domain that we show.
func (w *world) agree(name, domain string) apptest.Value {
	w.t.Helper()
	shown := w.get("/v1/domains/"+domain+"/registration/contact").OK(w.t, 200)
	within := map[bool]string{true: "strpos(contact::text, $2)",
		false: "instr(contact, $2)"}[w.DB.Engine() == "postgres"]
	if w.count("SELECT count(*) FROM sandbox_registrations WHERE name = $1 AND "+within+" > 0", name,
		shown.Text("phone")) != 1 {
		w.t.Errorf("the registrar has another registrant of %s than %s", name, shown)
	}
	return shown
}

// A change that one of the domains does not permit is made at none of them.
func TestContactChangeWholeOrNot(t *testing.T) {
	each(t, func(w *world) {
		contact := w.saved()
		one := w.ended(w.orderFor("alike.com", contact)).Text("resourceId")
		two := w.ended(w.orderFor("fixed.to", contact)).Text("resourceId")
		w.patch("/v1/domain-contacts/"+contact, `{"phone": "+442079460077"}`).
			Refused(w.t, 422, "REGISTRAR_UNSUPPORTED_OPERATION").Same("details.operation", "contact_update")
		w.agree("alike.com", one)
		w.agree("fixed.to", two)
	})
}

// A registrant is changed while a name is being registered for it: the name
// keeps the one that the registrar has.
func TestContactChangesWhileRegistering(t *testing.T) {
	var meanwhile atomic.Pointer[func()]
	each(t, func(w *world) {
		contact := w.saved()
		change := func() { w.patch("/v1/domain-contacts/"+contact, `{"phone": "+442079460077"}`).OK(w.t, 200) }
		meanwhile.Store(&change)
		ref := w.ended(w.orderFor("meanwhile.com", contact)).Text("resourceId")
		if shown := w.agree("meanwhile.com", ref); shown.Text("id") == contact {
			w.t.Error("the name follows a contact that it was not registered for")
		}
		w.get("/v1/domain-contacts/"+contact).OK(w.t, 200).Same("phone", "+442079460077")
	}, func(c *domain.Config) {
		c.Pause = func(step string) {
			if fn := meanwhile.Load(); step == "register-called" && fn != nil {
				meanwhile.Store(nil)
				(*fn)()
			}
		}
	})
}

// busyRegistrar calls back before it changes a registrant.
type busyRegistrar struct {
	domain.Registrar
	before func(name string)
}

func (b *busyRegistrar) ChangeContact(ctx context.Context, name string, r domain.Registrant) error {
	b.before(name)
	return b.Registrar.ChangeContact(ctx, name, r)
}

// A name that starts to use a contact while the contact is being changed
// changes with it.
func TestContactGainsDomainWhileChanging(t *testing.T) {
	var meanwhile atomic.Pointer[func(string)]
	var hold atomic.Pointer[chan struct{}]
	each(t, func(w *world) {
		contact := w.saved()
		one := w.ended(w.orderFor("earlier.com", contact)).Text("resourceId")
		gate := make(chan struct{})
		hold.Store(&gate)
		late := w.orderFor("later.com", contact)
		two := ""
		join := func(name string) {
			if two == "" {
				close(gate)
				two = w.ended(late).Text("resourceId")
			}
		}
		meanwhile.Store(&join)
		w.patch("/v1/domain-contacts/"+contact,
			`{"phone": "+442079460077"}`).OK(w.t, 200).Same("phone", "+442079460077")
		if two == "" || strings.Contains(w.agree("earlier.com", one).String(), "0018") {
			w.t.Error("the contact was not changed at the registrar")
		}
		w.agree("later.com", two)
	}, func(c *domain.Config) {
		c.Registrar = &busyRegistrar{c.Registrar, func(name string) {
			if fn := meanwhile.Load(); fn != nil {
				(*fn)(name)
			}
		}}
		c.Pause = func(step string) {
			if gate := hold.Load(); step == "locked" && gate != nil {
				<-*gate
			}
		}
	})
}
