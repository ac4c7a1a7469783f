package domain

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/zone"
)

// Config is what domains need. HonorsDelegation, SPF, Notify and Pause are optional.
type Config struct {
	DB     *db.DB
	Clock  *clock.Clock
	Log    *slog.Logger
	Events *event.Log
	Jobs   *job.Queue
	Seal   op.Sealer // of the keys that sign mail

	Registrar Registrar
	Payments  Payments
	DNS       zone.Provider
	LookupTXT func(ctx context.Context, name string) ([]string, error)
	LookupMX  func(ctx context.Context, name string) ([]*net.MX, error)
	// HonorsDelegation says that the DNS server lets the zone of a child name
	// answer only where the parent's zone delegates it. On a server that does
	// not, a child zone of another organization could take over names of the
	// parent, so it is not created without a delegation (mayHaveZone).
	HonorsDelegation bool

	MailHost string // the host that receives the mail of hosted domains; MX records name it
	SPF      string // the mechanisms of SPF records, for the hosts that send it
	// Notify mails a notice to the owners of an organization, once the
	// transaction is committed.
	Notify func(ctx context.Context, tx *db.Tx, org id.ID, n Notice) error

	// Pause is called between the steps of an order and of a DNS write, so
	// that a test can end the process there.
	Pause func(step string)
}

// Domains is everything that can be done with names.
type Domains struct {
	Zones *zone.Zones
	Email *Email

	cfg                    Config
	querySlots, orderSlots chan struct{} // bound how many requests wait for a provider at once
}

// How many requests may wait for a provider at once. Orders have slots of their
// own, so that searches and quotes cannot keep anybody from paying.
const (
	maxQueries = 32
	maxOrders  = 64
)

// New panics when a required field is missing. Nothing runs in the background before Handle.
func New(c Config) *Domains {
	for name, given := range map[string]bool{
		"DB": c.DB != nil, "Clock": c.Clock != nil, "Log": c.Log != nil, "Events": c.Events != nil,
		"Jobs": c.Jobs != nil, "Seal": c.Seal != nil, "Registrar": c.Registrar != nil, "Payments": c.Payments != nil,
		"DNS": c.DNS != nil, "LookupTXT": c.LookupTXT != nil, "LookupMX": c.LookupMX != nil,
		"MailHost": c.MailHost != "",
	} {
		if !given {
			panic("domain: New needs Config." + name)
		}
	}
	zones := zone.New(zone.Config{
		DB:     c.DB,
		Clock:  c.Clock,
		Log:    c.Log,
		Events: c.Events,
		Jobs:   c.Jobs,
		DNS:    c.DNS,
		SPF:    c.SPF,
		Find:   findZone,
		Lock:   lockZone,
		Pause:  c.Pause,
	})
	return &Domains{
		Zones:      zones,
		Email:      &Email{db: c.DB, clock: c.Clock, zones: zones, seal: c.Seal, host: c.MailHost, spf: c.SPF},
		cfg:        c,
		querySlots: make(chan struct{}, maxQueries),
		orderSlots: make(chan struct{}, maxOrders),
	}
}

// Handle declares the jobs of domains and their zones.
func (d *Domains) Handle() {
	d.Zones.Handle()
	jobs := d.cfg.Jobs
	// A lane of its own: a slow registrar holds up only orders. The attempts
	// are many, because money was taken and only the registrar can tell when
	// the work is over.
	lane := job.InLane("domains", 4)
	patient := []job.Setting{lane, job.RunTimeout(2 * time.Minute), job.Attempts(10_000)}
	job.HandleFlow(jobs, registerJob, d.carryOutRegistration, patient...)
	job.HandleFlow(jobs, renewJob, d.carryOutRenewal, patient...)
	job.HandleFlow(jobs, settleOrderJob, d.settleOrder, append(patient, job.ForgetWhenDone())...)
	job.HandleFlow(jobs, autoRenewJob, d.renewAutomatically, lane, job.ForgetWhenDone())
	job.HandleFlow(jobs, checkTransferJob, d.checkTransfer, lane, job.ForgetWhenDone())
	job.HandleFlow(jobs, dropZoneJob, d.dropZone, lane)
	job.HandleFlow(jobs, restoreZoneJob, d.restoreZone, lane, job.ForgetWhenDone())
	job.HandleFlow(jobs, publishEmailJob, d.publishEmail, lane, job.RunTimeout(2*time.Minute))
	job.HandleFlow(jobs, recheckJob, d.recheckProof, job.InLane("proofs", 4), job.RunTimeout(lookupTimeout),
		job.ForgetWhenDone())
	job.HandleTx(jobs, "domains.look_due", d.enqueueRechecks, job.Every(recheckSweepInterval))
	job.HandleTx(jobs, "domains.tell_expiring", d.notifyExpiring, job.Every(time.Hour))
	job.HandleTx(jobs, "domains.expire", d.expireDomains, job.Every(10*time.Second))
	job.HandleTx(jobs, "domains.renew_due", d.enqueueDueRenewals, job.Every(time.Hour))
	job.HandleTx(jobs, "domains.watch_transfers", d.enqueueTransferChecks, job.Every(time.Hour))
}

// Operations lists everything that can be done with domains and their zones.
func (d *Domains) Operations() []*op.Op {
	return slices.Concat(
		d.domainOperations(),
		d.subdomainOperations(),
		d.searchOperations(),
		d.registerOperations(),
		d.renewOperations(),
		operationOperations(),
		d.registrationOperations(),
		d.transferOperations(),
		d.contactOperations(),
		d.emailOperations(),
		d.Zones.Operations(),
	)
}

func (d *Domains) domainOperations() []*op.Op {
	const ref = `{"id": ` + exampleID + `}`
	return []*op.Op{
		op.Read(op.Spec{
			Name:        "domains.list",
			NounWords:   "web address, site, website, internet",
			Words:       "own, we own, our domains",
			Route:       "GET /v1/domains",
			Summary:     "List domains, newest first.",
			Description: "Subdomains are listed under their domain.",
			Example:     `{"status": ["active"], "limit": 20}`,
		}, d.listDomains),
		op.Write(op.Spec{
			Name:    "domains.create",
			Words:   "elsewhere, another company, already have, bring, use here, own domain",
			Route:   "POST /v1/domains",
			Summary: "Add a domain that is registered elsewhere.",
			Description: "The answer names the TXT record to publish; then call verify. " +
				"That call also finds out whether another organization has the name.",
			Errors:  []*fault.Kind{Exists, ParentExists, NestingUnsupported},
			Events:  []string{"domain.created"},
			Example: `{"name": "example.com", "purpose": "general"}`,
		}, d.createDomain),
		op.Read(op.Spec{
			Name:    "domains.get",
			Route:   "GET /v1/domains/{id}",
			Summary: "Get a domain or subdomain.",
			Example: ref,
		}, d.getDomain),
		op.Flow(op.Spec{
			Name:        "domains.verify",
			Words:       "prove, ownership, check, confirm",
			Route:       "POST /v1/domains/{id}/verify",
			Summary:     "Look for the TXT record that proves a domain.",
			Description: "Looks the record up in the DNS. A domain that is active already stays so.",
			Status:      200,
			Errors:      []*fault.Kind{NotVerified, Unavailable},
			Events:      []string{"domain.verified"},
			Example:     ref,
		}, d.verifyDomain),
		op.Flow(op.Spec{
			Name:      "domains.delete",
			Rehearses: true,
			Route:     "DELETE /v1/domains/{id}",
			Summary:   "Delete a domain.",
			Description: "A registered domain must have expired or left, and have no records, renewal, " +
				"transfer or subdomains.",
			Errors:  []*fault.Kind{NotExpired, RenewalInFlight, TransferInFlight, ZoneNotEmpty, SubdomainsExist},
			Events:  []string{"domain.deleted"},
			Example: ref,
		}, d.deleteDomain),
	}
}

type domainList struct {
	op.Browse
	SortBy string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt,name"`
	Name   *string  `query:"name" min:"1" max:"1000" doc:"the whole name, in any script"`
	Status []Status `query:"status" enum:"pending_verification,active,expired,transferred"`
	Source []Source `query:"source" enum:"registered,external"`
	Query  *string  `query:"query" min:"1" max:"200" doc:"part of the name, in any script"`

	ascii *string
}

func (in *domainList) Prepare(context.Context, *op.Call) error {
	if in.Name == nil {
		return nil
	}
	name, issue := parseHostName(*in.Name)
	if issue != "" {
		return fault.Field("name", issue)
	}
	in.ascii = &name
	return nil
}

func (d *Domains) listDomains(ctx context.Context, c *op.Call, in domainList) (*op.List[Domain], error) {
	w := db.InOrganization(c.Org).And("kind = 'apex'")
	db.FilterEqual(w, "name", in.ascii)
	db.FilterOneOf(w, "status", in.Status)
	db.FilterOneOf(w, "source", in.Source)
	if in.Query != nil {
		if err := filterByNamePart(ctx, c, w, strings.ToLower(strings.TrimSpace(*in.Query))); err != nil {
			return nil, err
		}
	}
	list, err := op.BrowseRows(ctx, c, domains, op.ListQuery{Browse: in.Browse, SortBy: in.SortBy}, w)
	if err != nil {
		return nil, err
	}
	return list, d.fillDomainList(ctx, c, list.Data)
}

// filterByNamePart narrows w to the domains whose name contains text. Names are stored in ASCII, so a
// text in another script is compared with the names that have an xn-- label, at most 1000 of
// them.
func filterByNamePart(ctx context.Context, c *op.Call, w *db.Where, text string) error {
	if zone.IsASCII(text) {
		// Unlike LIKE, replace knows no wildcards.
		w.And("replace(name, ?, '') <> name", text)
		return nil
	}
	all, err := db.QueryAll[string](ctx, c.Tx, `
		SELECT name FROM domains
		WHERE organization_id = $1 AND kind = 'apex' AND deleted_at IS NULL AND name LIKE '%xn--%'
		ORDER BY seq DESC LIMIT 1000`, c.Org)
	if err != nil {
		return err
	}
	found := []string{""} // no domain has this name; without it an empty list would match all
	for _, name := range all {
		if strings.Contains(toUnicodeName(name), text) {
			found = append(found, name)
		}
	}
	db.FilterOneOf(w, "name", found)
	return nil
}

func (d *Domains) getDomain(ctx context.Context, c *op.Call, in domainRef) (*Domain, error) {
	return d.loadDomain(ctx, c.Tx, c.Org, in.ID)
}
