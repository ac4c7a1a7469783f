package domain_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"frontdesk/internal/resource/domain"
	"frontdesk/internal/resource/zone"
)

// watchedDNS calls back, once, before it removes a zone and after it creates
// one, and may fail to create one.
type watchedDNS struct {
	zone.Provider
	removing, made atomic.Pointer[func()]
	fail           atomic.Int64 // this many zones are not created
}

func once(p *atomic.Pointer[func()]) {
	if fn := p.Swap(nil); fn != nil {
		(*fn)()
	}
}

func (d *watchedDNS) DeleteZone(ctx context.Context, name string) error {
	once(&d.removing)
	return d.Provider.DeleteZone(ctx, name)
}

func (d *watchedDNS) CreateZone(ctx context.Context, name string) error {
	if d.fail.Add(-1) >= 0 {
		return errors.New("test: connection refused")
	}
	err := d.Provider.CreateZone(ctx, name)
	once(&d.made)
	return err
}

// added adds an external domain whose TXT record exists.
func (w *world) added(name string) string {
	w.t.Helper()
	v := w.post("/v1/domains", `{"name": "`+name+`"}`).OK(w.t, 201)
	w.txt.set(v.Text("verification.recordName"), v.Text("verification.recordValue"))
	return "/v1/domains/" + v.Text("id")
}

// A domain that is deleted and verified again while its old zone is being
// removed has a zone, whichever is first.
func TestVerifyWhileItsZoneGoes(t *testing.T) {
	var d *watchedDNS
	each(t, func(w *world) {
		removing, next := make(chan struct{}), make(chan struct{})
		former := w.added("again.example.com")
		w.post(former+"/verify", "").OK(w.t, 200)
		wait := func() { close(removing); <-next }
		d.removing.Store(&wait)
		w.remove(former).OK(w.t, 204)
		<-removing
		// The zone exists when verification checks, and is gone when it is
		// done.
		again := w.added("again.example.com")
		dropped := func() bool {
			return w.count("SELECT count(*) FROM jobs WHERE kind = 'domain.drop_zone' AND state = 'done'") == 1
		}
		letGo := func() {
			close(next)
			w.eventually("the zone is dropped", dropped)
		}
		d.made.Store(&letGo)
		w.post(again+"/verify", "").OK(w.t, 200)
		w.eventually("the zone is dropped", dropped) // not before: the old zone answers too
		w.get(again+"/dns-records").OK(w.t, 200)
	}, func(c *domain.Config) {
		d = &watchedDNS{Provider: c.DNS}
		c.DNS = d
	})
}

// Whoever has a name again gets its zone back even if the first try failed.
func TestZoneComesBackLater(t *testing.T) {
	var d *watchedDNS
	each(t, func(w *world) {
		former := w.added("again.example.com")
		w.post(former+"/verify", "").OK(w.t, 200)
		again := ""
		take := func() {
			again = w.added("again.example.com")
			w.post(again+"/verify", "").OK(w.t, 200)
			d.fail.Store(1)
		}
		d.removing.Store(&take)
		w.remove(former).OK(w.t, 204)
		w.eventually("it is tried again", func() bool {
			w.exec("UPDATE jobs SET run_at = 0 WHERE kind = 'domain.drop_zone' AND state = 'ready' AND attempt > 0")
			return w.count("SELECT count(*) FROM jobs WHERE kind = 'domain.drop_zone' AND state = 'done'") == 1
		})
		w.get(again+"/dns-records").OK(w.t, 200)
	}, func(c *domain.Config) {
		d = &watchedDNS{Provider: c.DNS}
		c.DNS = d
	})
}
