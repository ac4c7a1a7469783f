package domain

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

var subdomains = op.NestedUnder(domains, db.RefTo("parent_domain_id", "domains"))

func (d *Domains) subdomainOperations() []*op.Op {
	const ref = `{"id": ` + exampleID + `, "subdomainId": "7d2a9c10-4b5e-4f6a-8c3d-9e1f0a2b3c4d"}`
	return []*op.Op{
		op.Read(op.Spec{
			Name:    "domains.subdomains.list",
			Route:   "GET /v1/domains/{id}/subdomains",
			Summary: "List a domain's subdomains, newest first.",
			Example: `{"id": ` + exampleID + `}`,
		}, d.listSubdomains),
		op.Write(op.Spec{
			Name:    "domains.subdomains.create",
			Words:   "set up",
			Route:   "POST /v1/domains/{id}/subdomains",
			Summary: "Add a subdomain.",
			Description: "It is active at once: the domain above it is verified already. " +
				"Where that has hosted email, the subdomain's records follow in a moment.",
			Outward: true,
			Errors:  []*fault.Kind{Exists, NestingUnsupported, NotVerified, TransferInFlight, Unavailable},
			Events:  []string{"domain.subdomain.created"},
			Example: `{"id": ` + exampleID + `, "name": "mail.example.com", "purpose": "transactional"}`,
		}, d.createSubdomain),
		op.Read(op.Spec{
			Name:    "domains.subdomains.get",
			Route:   "GET /v1/domains/{id}/subdomains/{subdomainId}",
			Summary: "Get a subdomain.",
			Example: ref,
		}, d.getSubdomain),
		op.Write(op.Spec{
			Name:    "domains.subdomains.delete",
			Route:   "DELETE /v1/domains/{id}/subdomains/{subdomainId}",
			Summary: "Remove a subdomain.",
			Events:  []string{"domain.subdomain.deleted"},
			Example: ref,
		}, d.deleteSubdomain),
	}
}

type subdomainList struct {
	op.Page
	domainRef
}

func (d *Domains) listSubdomains(ctx context.Context, c *op.Call, in subdomainList) (*op.List[Domain], error) {
	l, err := subdomains.List(ctx, c, in.ID, in.Page)
	if err != nil {
		return nil, err
	}
	return l, d.fillDomainList(ctx, c, l.Data)
}

type subdomainCreate struct {
	domainRef
	Name    string  `json:"name" min:"1" max:"1000" doc:"the full name, one label under the domain"`
	Purpose Purpose `json:"purpose" default:"general" enum:"general,transactional,marketing" doc:"general gets mail"`

	ascii string
}

func (in *subdomainCreate) Prepare(context.Context, *op.Call) error {
	name, issue := ParseName(in.Name)
	if issue != "" {
		return fault.Field("name", issue)
	}
	in.ascii = name
	return nil
}

func (d *Domains) createSubdomain(ctx context.Context, c *op.Call, in subdomainCreate) (*Domain, error) {
	if err := db.LockOrganization(ctx, c.Tx, c.Org); err != nil {
		return nil, err
	}
	parent, err := domains.Lock(ctx, c.Tx, c.Org, in.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case parent.Kind != KindApex:
		return nil, NestingUnsupported.Say("%s is a subdomain, and has none of its own.", parent.Name)
	case parentName(in.ascii) != parent.Name:
		return nil, fault.Field("name", "Must be one label under "+parent.Name+", like mail."+parent.Name)
	case parent.TransferRequestedAt != nil:
		return nil, TransferInFlight.New()
	case parent.Status == StatusPending:
		return nil, NotVerified.Say("Verify %s first.", parent.Name)
	case parent.Status != StatusActive:
		return nil, Unavailable.Say("%s is %s.", parent.Name, parent.Status)
	}
	v := &Domain{
		Record:         c.NewRecord(),
		Name:           in.ascii,
		Kind:           KindSubdomain,
		ParentDomainID: &parent.ID,
		Purpose:        in.Purpose,
		Status:         StatusActive,
		Source:         parent.Source,
	}
	if err := insertDomain(ctx, c.Tx, v); err != nil {
		return nil, err
	}
	if err := d.takeSubdomainName(ctx, c, v); err != nil {
		return nil, err
	}
	if err := d.republishParentEmail(ctx, c, parent.ID); err != nil {
		return nil, err
	}
	if err := d.fillDomains(ctx, c.Tx, c.Org, v); err != nil {
		return nil, err
	}
	return v, c.Emit("domain.subdomain.created", v.ID, v)
}

// takeSubdomainName gives a subdomain its name. If another organization has it as a domain of
// its own, that one keeps it unless it is no longer verified. No DNS is asked: this runs in a
// transaction.
func (d *Domains) takeSubdomainName(ctx context.Context, c *op.Call, v *Domain) error {
	h, err := findHold(ctx, c.Tx, v.Name)
	if err != nil {
		return err
	}
	var r *displacedHolder
	if h != nil && h.Org != c.Org {
		holder, err := domains.Get(ctx, c.Tx, h.Org, h.Domain)
		if err != nil && !fault.IsKind(err, fault.NotFound) {
			return err
		}
		if err == nil && holder.Kind == KindApex && holder.Status == StatusPending {
			r = &displacedHolder{org: h.Org, apex: h.Domain, domain: h.Domain, seenAt: holder.ProofSeenAt}
		}
	}
	return d.takeName(ctx, c.Tx, namedDomain{c.Org, v.ID, v.Name}, r)
}

type subdomainRef struct {
	domainRef
	SubdomainID id.ID `path:"subdomainId"`
}

func (d *Domains) getSubdomain(ctx context.Context, c *op.Call, in subdomainRef) (*Domain, error) {
	v, err := subdomains.Get(ctx, c, in.ID, in.SubdomainID)
	if err != nil {
		return nil, err
	}
	return v, d.fillDomains(ctx, c.Tx, c.Org, v)
}

func (d *Domains) deleteSubdomain(ctx context.Context, c *op.Call, in subdomainRef) (op.Nothing, error) {
	v, err := subdomains.Remove(ctx, c, in.ID, in.SubdomainID)
	if err != nil {
		return op.Nothing{}, err
	}
	if err := d.fillDomains(ctx, c.Tx, c.Org, v); err != nil {
		return op.Nothing{}, err
	}
	if err := releaseNames(ctx, c.Tx, c.Org, v.ID); err != nil {
		return op.Nothing{}, err
	}
	if err := d.republishParentEmail(ctx, c, in.ID); err != nil {
		return op.Nothing{}, err
	}
	return op.Nothing{}, c.Emit("domain.subdomain.deleted", v.ID, v)
}

// BlockingSubdomain is a subdomain that keeps the domain above it from being deleted or transferred.
type BlockingSubdomain struct {
	ID   id.ID  `json:"id" db:"id"`
	Name string `json:"name" db:"name"`
}

// checkNoSubdomains refuses to delete or transfer a domain that has subdomains.
func checkNoSubdomains(ctx context.Context, tx *db.Tx, org, parent id.ID) error {
	rows, err := db.QueryAll[BlockingSubdomain](ctx, tx, `
		SELECT id, name FROM domains
		WHERE organization_id = $1 AND parent_domain_id = $2 AND deleted_at IS NULL
		ORDER BY name LIMIT 100`, org, parent)
	if err != nil || len(rows) == 0 {
		return err
	}
	var names []string
	for _, r := range rows[:min(len(rows), 5)] {
		names = append(names, r.Name)
	}
	f := SubdomainsExist.Say("The domain has subdomains: %s. Remove them first.", strings.Join(names, ", "))
	f.Details = map[string][]BlockingSubdomain{"subdomains": rows}
	return f
}
