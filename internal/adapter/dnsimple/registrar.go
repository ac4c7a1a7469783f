package dnsimple

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/resource/domain"
)

var _ domain.Registrar = (*Client)(nil)

// DNSimple has no idempotency keys, so whatever costs money looks whether it has
// already happened before it acts.

// Name is the registrar's name.
func (c *Client) Name() string { return "dnsimple" }

// Endings are those that the operator offers.
func (c *Client) Endings() []string { return slices.Clone(c.endings) }

// registrarPath is the path of a domain's registration in the API.
func registrarPath(name, rest string) string {
	return "/registrar/domains/" + url.PathEscape(name) + rest
}

// Check asks for availability and prices.
func (c *Client) Check(ctx context.Context, name string) (*domain.Offer, error) {
	_, ending, _ := strings.Cut(name, ".")
	if !slices.Contains(c.endings, ending) {
		return nil, nil
	}
	var check struct {
		Available bool `json:"available"`
		Premium   bool `json:"premium"`
	}
	if err := c.callAPI(ctx, http.MethodGet, registrarPath(name, "/check"), nil, &check); err != nil {
		return nil, err
	}
	var prices struct {
		Premium      bool    `json:"premium"`
		Registration float64 `json:"registration_price"`
		Renewal      float64 `json:"renewal_price"`
	}
	if err := c.callAPI(ctx, http.MethodGet, registrarPath(name, "/prices"), nil, &prices); err != nil {
		return nil, err
	}
	return &domain.Offer{Available: check.Available, Premium: check.Premium || prices.Premium,
		FirstYearPrice: toCents(prices.Registration), RenewalPrice: toCents(prices.Renewal)}, nil
}

func toCents(dollars float64) int64 { return int64(math.Round(dollars * 100)) }

// remoteDomain is a domain as DNSimple has it.
type remoteDomain struct {
	State     string     `json:"state"` // hosted, registered or expired
	ExpiresAt *time.Time `json:"expires_at"`
	CreatedAt time.Time  `json:"created_at"`
}

// stateHosted is the state of a domain that is in the account and not registered
// through it: only its zone is there.
const stateHosted = "hosted"

// loadDomain reads a domain of the account in any state, or returns domain.ErrUnknownToProvider.
func (c *Client) loadDomain(ctx context.Context, name string) (*remoteDomain, error) {
	var d remoteDomain
	err := c.callAPI(ctx, http.MethodGet, "/domains/"+url.PathEscape(name), nil, &d)
	var e *apiError
	if errors.As(err, &e) && e.Status == http.StatusNotFound {
		return nil, domain.ErrUnknownToProvider
	}
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// loadRegistered reads a domain that is registered through the account, or returns
// domain.ErrUnknownToProvider if it is not in the account at all.
func (c *Client) loadRegistered(ctx context.Context, name string) (*remoteDomain, error) {
	d, err := c.loadDomain(ctx, name)
	if err != nil {
		return nil, err
	}
	if d.State == stateHosted {
		// Its registration is under way, or it is only hosted there. To
		// register it now might buy it twice.
		return nil, fmt.Errorf("dnsimple: %s is in the account and not registered yet", name)
	}
	if d.ExpiresAt == nil {
		return nil, fmt.Errorf("dnsimple: %s has no date of expiry yet", name)
	}
	return d, nil
}

func (d *remoteDomain) toHeld() *domain.HeldRegistration {
	return &domain.HeldRegistration{RegisteredAt: clock.FromStd(d.CreatedAt.Truncate(time.Second)),
		ExpiresAt: clock.FromStd(d.ExpiresAt.Truncate(time.Second))}
}

// lastsForYears reports whether the registration lasts for so many years from its beginning, with
// a month of tolerance between the two dates.
func (d *remoteDomain) lastsForYears(years int) bool {
	return d.ExpiresAt.After(d.CreatedAt.AddDate(years, -1, 0))
}

// remoteContact is a registrant with DNSimple's names of the fields.
type remoteContact struct {
	FirstName        string  `json:"first_name"`
	LastName         string  `json:"last_name"`
	OrganizationName string  `json:"organization_name,omitzero"`
	JobTitle         string  `json:"job_title,omitzero"`
	Address1         string  `json:"address1"`
	Address2         *string `json:"address2,omitzero"`
	City             string  `json:"city"`
	StateProvince    string  `json:"state_province"`
	PostalCode       string  `json:"postal_code"`
	Country          string  `json:"country"`
	Email            string  `json:"email"`
	Phone            string  `json:"phone"`
}

func (c *Client) createContact(ctx context.Context, r domain.Registrant) (id int64, err error) {
	v := remoteContact{FirstName: r.FirstName, LastName: r.LastName, Address1: r.Address1, Address2: r.Address2,
		City: r.City, StateProvince: r.StateProvince,
		PostalCode: r.PostalCode, Country: r.Country, Email: r.Email, Phone: r.Phone}
	if r.OrganizationName != nil {
		v.OrganizationName = *r.OrganizationName
	}
	if r.JobTitle != nil {
		v.JobTitle = *r.JobTitle
	}
	var made struct {
		ID int64 `json:"id"`
	}
	err = asRefusal(c.callAPI(ctx, http.MethodPost, "/contacts", v, &made))
	return made.ID, err
}

// asRefusal turns a definite refusal of DNSimple's into a domain.Refusal, which says that
// nothing happened. Other errors stay as they are: the outcome is unknown.
func asRefusal(err error) error {
	var e *apiError
	if errors.As(err, &e) && e.isDefinite() {
		return &domain.Refusal{Code: fmt.Sprint(e.Status), Message: e.fullMessage()}
	}
	return err
}

// Register registers a name for a year and then renews it for the other years, because
// a registration at DNSimple has no period.
func (c *Client) Register(ctx context.Context, key string, a domain.RegistrationRequest) (*domain.HeldRegistration,
	error) {
	d, err := c.loadRegistered(ctx, a.Name)
	if errors.Is(err, domain.ErrUnknownToProvider) {
		d, err = c.registerForOneYear(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	if d.lastsForYears(a.Years) {
		return d.toHeld(), nil
	}
	longer, err := c.Renew(ctx, key, a.Name, a.Years-1, clock.FromStd(*d.ExpiresAt))
	if no := (*domain.Refusal)(nil); errors.As(err, &no) {
		// The name is bought. A domain.Refusal would say that nothing happened, and the
		// customer would be refunded; so it is an ordinary error that the operator has to
		// look into.
		return nil, fmt.Errorf("dnsimple: %s is registered for a year, and the other %d are refused: %s", a.Name,
			a.Years-1,
			no.Message)
	}
	return longer, err
}

func (c *Client) registerForOneYear(ctx context.Context, a domain.RegistrationRequest) (*remoteDomain, error) {
	registrant, err := c.createContact(ctx, a.Registrant)
	if err != nil {
		return nil, err
	}
	in := map[string]any{"registrant_id": registrant, "whois_privacy": true, "auto_renew": false}
	if err := c.orderAndWait(ctx, registrarPath(a.Name, "/registrations"), in, "registered"); err != nil {
		return nil, err
	}
	return c.loadRegistered(ctx, a.Name)
}

// orderAndWait places an order at path and polls it until it has the state done, is refused,
// or ctx ends.
func (c *Client) orderAndWait(ctx context.Context, path string, in any, done string) error {
	var order struct {
		ID    int64  `json:"id"`
		State string `json:"state"`
	}
	if err := asRefusal(c.callAPI(ctx, http.MethodPost, path, in, &order)); err != nil {
		return err
	}
	for {
		switch order.State {
		case done:
			return nil
		case "failed", "cancelled":
			return &domain.Refusal{Code: order.State, Message: "The registry rejected the order."}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(c.pollInterval):
		}
		if err := c.callAPI(ctx, http.MethodGet, fmt.Sprintf("%s/%d", path, order.ID), nil, &order); err != nil {
			return err
		}
	}
}

// Registered looks for the name in the account.
func (c *Client) Registered(ctx context.Context, _ string, a domain.RegistrationRequest) (*domain.HeldRegistration,
	error) {
	d, err := c.loadRegistered(ctx, a.Name)
	if err != nil {
		return nil, err
	}
	if !d.lastsForYears(a.Years) {
		return nil, domain.ErrUnknownToProvider
	}
	return d.toHeld(), nil
}

// Renew adds years, unless they have already been added.
func (c *Client) Renew(ctx context.Context, key, name string, years int, until clock.Time) (*domain.HeldRegistration,
	error) {
	held, err := c.Renewed(ctx, key, name, until)
	if !errors.Is(err, domain.ErrUnknownToProvider) {
		return held, err
	}
	if err := c.orderAndWait(ctx, registrarPath(name, "/renewals"), map[string]int{"period": years},
		"renewed"); err != nil {
		return nil, err
	}
	d, err := c.loadRegistered(ctx, name)
	if err != nil {
		return nil, err
	}
	return d.toHeld(), nil
}

// Renewed tells by the date whether a registration was renewed.
func (c *Client) Renewed(ctx context.Context, _, name string, until clock.Time) (*domain.HeldRegistration, error) {
	d, err := c.loadRegistered(ctx, name)
	if errors.Is(err, domain.ErrUnknownToProvider) {
		return nil, &domain.Refusal{Code: "404", Message: name + " is not in the registrar's account."}
	}
	if err != nil {
		return nil, err
	}
	if clock.FromStd(*d.ExpiresAt) <= until {
		return nil, domain.ErrUnknownToProvider
	}
	return d.toHeld(), nil
}

// SetTransferLock turns the transfer lock on or off.
func (c *Client) SetTransferLock(ctx context.Context, name string, on bool) error {
	method := http.MethodDelete
	if on {
		method = http.MethodPost
	}
	return asRefusal(c.callAPI(ctx, method, registrarPath(name, "/transfer_lock"), nil, nil))
}

// ChangeContact starts a change of registrant. Endings that need more than a
// contact refuse it.
func (c *Client) ChangeContact(ctx context.Context, name string, r domain.Registrant) error {
	id, err := c.createContact(ctx, r)
	if err != nil {
		return err
	}
	err = c.callAPI(ctx, http.MethodPost, "/registrar/registrant_changes",
		map[string]string{"domain_id": name, "contact_id": fmt.Sprint(id)}, nil)
	var e *apiError
	if errors.As(err, &e) && e.Status == http.StatusBadRequest {
		return &domain.UnsupportedError{Operation: "contact_update"}
	}
	return asRefusal(err)
}

// BeginTransfer has the code mailed to the registrant.
func (c *Client) BeginTransfer(ctx context.Context, name string) (string, error) {
	return "", asRefusal(c.callAPI(ctx, http.MethodPost, registrarPath(name, "/authorize_transfer_out"), nil, nil))
}

// EndTransfer locks the name, which ends the transfer, and unlocks it again,
// as it was.
func (c *Client) EndTransfer(ctx context.Context, name string) error {
	if err := c.SetTransferLock(ctx, name, true); err != nil {
		return err
	}
	return c.SetTransferLock(ctx, name, false)
}

// Left reports whether a name that was registered there no longer is: it is
// not in the account, or only its zone stayed behind.
func (c *Client) Left(ctx context.Context, name string) (bool, error) {
	d, err := c.loadDomain(ctx, name)
	if errors.Is(err, domain.ErrUnknownToProvider) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return d.State == stateHosted, nil
}
