package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/invoice"
	"frontdesk/internal/resource/message"

	"github.com/go-json-experiment/json"
)

// SeedDemo makes the demonstration on an empty database: a year of a small business, the
// same on every run but for its dates. It works through the operations that everybody
// uses, in a service of its own whose clock begins a year ago and goes on from one moment
// to the next; jobs run in between, so that mail is sent, invoices fall due and automations
// run when they would have. It refuses a database with real organizations.
func SeedDemo(ctx context.Context, s config.Settings, log *slog.Logger) error {
	past := &demoClock{}
	s.Mail.Provider = "mailbox" // the year's mail leaves for nobody, whatever is set for what people write later
	a, err := Open(ctx, s, slog.New(slog.DiscardHandler), Extra{Clock: clock.NewFromSource(past.now, s.ClockOffset)})
	if err != nil {
		return err
	}
	defer a.Close()
	empty, demo, err := a.Accounts.IsEmptyOrDemo(ctx)
	switch {
	case err != nil:
		return err
	case !empty && !demo:
		return errors.New("this database is not a demo; --demo needs its own folder or database")
	case !empty:
		return a.checkDemoIsWhole(ctx)
	}
	began := time.Now()
	// Ctrl-C does not interrupt this: it takes seconds, and the next start would mistake half a demo for
	// a whole one.
	ctx = context.WithoutCancel(ctx)
	y := &demoYear{app: a, clock: past, known: map[string]string{}, today: began.UTC().Truncate(24 * time.Hour)}
	// Periodic jobs see the clock as it is now, so that none of them is due in the past.
	if err := a.Jobs.Start(ctx); err != nil {
		return err
	}
	past.back.Store(int64(time.Since(y.on(370, 8))))
	err = y.run(ctx)
	if stop := a.Jobs.Stop(ctx); err == nil {
		err = stop
	}
	log.InfoContext(ctx, "made a year of the demonstration", "took", time.Since(began).Round(time.Millisecond))
	return err
}

// checkDemoIsWhole refuses a demonstration that was stopped while it was made. The last
// thing that is made is its key.
func (a *App) checkDemoIsWhole(ctx context.Context) error {
	return a.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		keys, err := account.LiveKeysNamed(ctx, tx, demoKeyName)
		if err == nil && len(keys) == 0 {
			return errors.New("this demonstration was stopped while it was made; remove its folder or database, and " +
				"start again")
		}
		return err
	})
}

// demoClock is a clock that stands back.
type demoClock struct{ back atomic.Int64 }

func (c *demoClock) now() time.Time {
	return time.Now().Add(-time.Duration(c.back.Load()))
}

// moveTo sets the clock, which goes on from there. It never goes back.
func (c *demoClock) moveTo(at time.Time) {
	if at.After(c.now()) {
		c.back.Store(int64(max(0, time.Since(at))))
	}
}

// demoYear is the year under way.
type demoYear struct {
	app   *App
	clock *demoClock
	today time.Time

	owner, colleague, agent *op.Caller

	moments []demoMoment
	known   map[string]string // ids by name: $charles in an input
	keys    int
}

// demoMoment is something that happened at a time.
type demoMoment struct {
	at time.Time
	do func(ctx context.Context) error
}

// on is a time of a day so many days ago.
func (y *demoYear) on(days int, hour float64) time.Time {
	return y.today.AddDate(0, 0, -days).Add(time.Duration(hour * float64(time.Hour)))
}

func (y *demoYear) add(days int, hour float64, do func(ctx context.Context) error) {
	y.moments = append(y.moments, demoMoment{y.on(days, hour), do})
}

// run makes the business and then lets everything happen in the order of time.
func (y *demoYear) run(ctx context.Context) error {
	if err := y.found(ctx); err != nil {
		return err
	}
	y.addRecords()
	y.addPeople()
	y.addTrade()
	y.addMail()
	y.addAgent()
	for week := range 52 {
		y.add(7*week+1, 1, y.markOverdue)
	}
	slices.SortStableFunc(y.moments, func(a, b demoMoment) int { return a.at.Compare(b.at) })
	for _, m := range y.moments {
		y.clock.moveTo(m.at)
		if err := m.do(ctx); err != nil {
			return fmt.Errorf("demo: %w", err)
		}
	}
	y.clock.back.Store(0)
	if err := y.settle(ctx); err != nil {
		return err
	}
	return y.app.makeDemoKey(ctx, id.ID(y.known["business"]), nil) // it says that the year is whole
}

// found makes the organization, its people and its agent.
func (y *demoYear) found(ctx context.Context) error {
	var org account.Created
	if err := y.app.runAdminOperation(ctx, adminCall{operation: "organizations.create",
		input: map[string]any{"name": demoName, "plan": "professional", "isDemo": true}}, &org); err != nil {
		return err
	}
	var owner, colleague account.Member
	var agent account.Agent
	for _, call := range []struct {
		adminCall
		out any
	}{
		{adminCall{"users.create", "organization", org.ID, map[string]any{"email": demoEmail, "name": "Ada Lovelace",
			"role": "owner", "password": demoPassword}}, &owner},
		{adminCall{"users.create", "organization", org.ID, map[string]any{"email": "thomas@example.com",
			"name": "Thomas Fowler", "role": "member", "password": demoPassword}}, &colleague},
		{adminCall{"agreements.accept", "business", org.BusinessID,
			map[string]any{"businessId": org.BusinessID, "kind": "business", "by": demoEmail}}, nil},
		{adminCall{"agreements.accept", "business", org.BusinessID,
			map[string]any{"businessId": org.BusinessID, "kind": "domain", "by": demoEmail}}, nil},
		{adminCall{"payment_methods.create_test", "organization", org.ID, map[string]any{"test": "visa"}}, nil},
		{adminCall{"agents.create", "business", org.BusinessID,
			map[string]any{"businessId": org.BusinessID, "name": "Assistant", "preset": "helper"}}, &agent},
	} {
		if err := y.app.runAdminOperation(ctx, call.adminCall, call.out); err != nil {
			return err
		}
	}
	if err := y.app.runAdminOperation(ctx, adminCall{"agents.configure", "agent", agent.ID,
		map[string]any{"id": agent.ID, "askMode": "propose"}}, &agent); err != nil {
		return err
	}
	y.known["business"], y.known["owner"] = string(org.BusinessID), string(owner.ID)
	y.known["colleague"] = string(colleague.ID)
	caller := op.Caller{Kind: op.UserActor, Organization: org.ID, Business: org.BusinessID, Plan: "professional",
		Permissions: op.Everything(), Agreements: []string{op.EveryAgreement}, MaySpend: true, MayApprove: true}
	first, second, third := caller, caller, caller
	first.ID, first.User, first.Role = owner.ID, owner.ID, "owner"
	second.ID, second.User, second.Role = colleague.ID, colleague.ID, "member"
	third.Kind, third.ID, third.User, third.Permissions = op.AgentActor, agent.ID, owner.ID, agent.AllowedPermissions()
	third.Proposable = agent.ProposablePermissions()
	agent.RestrictCaller(&third, y.app.Clock.Now())
	y.owner, y.colleague, y.agent = &first, &second, &third
	return nil
}

var (
	demoNames = regexp.MustCompile(`\$[a-z][a-z0-9-]*`)
	demoDays  = regexp.MustCompile(`"@(-?[0-9]+)"`)
)

// fill puts ids in place of names, and times in place of days: "@7" is in a week.
func (y *demoYear) fill(text string) string {
	text = demoNames.ReplaceAllStringFunc(text, func(name string) string { return cmp.Or(y.known[name[1:]], name) })
	return demoDays.ReplaceAllStringFunc(text, func(day string) string {
		n, _ := strconv.Atoi(strings.Trim(day, `"@`))
		return strconv.Quote(clock.FromStd(y.on(-n, 12)).String())
	})
}

// call runs an operation and keeps the id of what it made under a name, if there is one.
func (y *demoYear) call(ctx context.Context, as *op.Caller, name, operation, input string) error {
	var made demoIDs
	if err := y.read(ctx, as, operation, input, &made); err != nil {
		return err
	}
	y.remember(name, made)
	return nil
}

// demoIDs are what an answer is known by later.
type demoIDs struct {
	ID       string `json:"id"`
	ThreadID string `json:"threadId"`
}

func (y *demoYear) remember(name string, of demoIDs) {
	if name != "" {
		y.known[name], y.known[name+"-thread"] = of.ID, of.ThreadID
	}
}

// read runs an operation and reads its answer.
func (y *demoYear) read(ctx context.Context, as *op.Caller, operation, input string, out any) error {
	door := op.ConsoleDoor
	if as.Kind == op.AgentActor {
		door = op.AgentDoor
	}
	call := action.Call{Caller: as, Operation: operation, Input: []byte(y.fill(input)),
		RequestID: string(id.NewRequestID())}
	if o := y.app.Catalog.Named(operation); o != nil && o.KeyRequired {
		y.keys++
		call.Key = fmt.Sprintf("demo-%d", y.keys)
	}
	answer, err := action.New(y.app.Runner, y.app.Catalog, door).Do(ctx, call)
	if err != nil {
		return fmt.Errorf("%s %s: %w", operation, call.Input, err)
	}
	return json.Unmarshal(answer.Body, &struct {
		Data any `json:"data"`
	}{out})
}

// markOverdue does what a periodic job does.
func (y *demoYear) markOverdue(ctx context.Context) error {
	return y.app.DB.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		_, err := invoice.MarkDueOverdue(ctx, tx, y.app.Events, y.app.Clock.Now(), 100)
		return err
	})
}

// record adds a call of an operation by the owner.
func (y *demoYear) record(days int, hour float64, name, operation, input string) {
	y.add(days, hour, func(ctx context.Context) error { return y.call(ctx, y.owner, name, operation, input) })
}

// receive takes a mail in. It answers the message of a name, if there is one, and can be answered by its own.
func (y *demoYear) receive(ctx context.Context, name, answers, from, subject, text string) error {
	more := ""
	if answers != "" {
		err := y.app.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
			of, err := message.LoadInternetID(ctx, tx, y.owner.Organization, id.ID(y.known[answers]))
			more = "In-Reply-To: <" + of + ">\r\n"
			return err
		})
		if err != nil {
			return err
		}
	}
	mail := "From: " + from + "\r\nTo: office@analytical-engines.com\r\nSubject: " + subject + "\r\n" +
		"Message-ID: <" + name + "@customers.example>\r\nMIME-Version: 1.0\r\n" +
		"Content-Type: text/plain; charset=utf-8\r\n" + more + "\r\n" + strings.ReplaceAll(text, "\n", "\r\n")
	_, sender, _ := strings.Cut(strings.TrimSuffix(from, ">"), "<")
	box := message.Mailbox{Organization: y.owner.Organization, Address: "office@analytical-engines.com"}
	if err := y.app.Messages.Receive(ctx, message.ReceivedMail{Sender: sender, Recipients: []message.Mailbox{box},
		Content: strings.NewReader(mail), Size: int64(len(mail))}); err != nil {
		return err
	}
	var newest []demoIDs
	err := y.read(ctx, y.owner, "messages.list", `{"direction": "inbound", "limit": 1}`, &newest)
	if err == nil && len(newest) == 1 {
		y.remember(name, newest[0])
	}
	return err
}

// upload puts a small file into a folder, as a form like any other.
func (y *demoYear) upload(ctx context.Context, name, folder, text string) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err := form.WriteField("folderId", y.fill(folder)); err != nil {
		return err
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(part, text); err != nil {
		return err
	}
	if err := form.Close(); err != nil {
		return err
	}
	_, err = y.app.Runner.Do(ctx, y.app.Catalog.Named("files.upload"), op.Request{Caller: y.owner, Door: op.ConsoleDoor,
		ID: "demo", Stream: &op.Stream{Reader: &body, ContentType: form.FormDataContentType(),
			Length: int64(body.Len())}})
	return err
}

// settle waits until all that is due has been done.
func (y *demoYear) settle(ctx context.Context) error {
	for range 500 {
		g, err := y.app.Jobs.ReadGauges(ctx)
		if err != nil {
			return err
		}
		waits := g.Running
		for _, l := range g.Lanes {
			if !strings.HasPrefix(l.Name, "webhooks") { // they fail, and are tried again later
				waits += l.Ready + l.Busy
			}
		}
		if waits == 0 {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return nil // an automation or a webhook may take longer; the service goes on with it
}
