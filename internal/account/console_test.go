package account_test

import (
	"context"
	"fmt"
	"testing"

	"frontdesk/internal/account"
	"frontdesk/internal/apptest"
	"frontdesk/internal/door/action"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

const password = "a long password" // of every owner in apptest

// console calls operations as the console does, without its pages.
type console struct {
	t *testing.T
	*apptest.App
	door *action.Door
}

func eachConsole(t *testing.T, fn func(t *testing.T, c *console)) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		fn(t, &console{t, a, action.New(a.Runner, a.Catalog, op.ConsoleDoor)})
	})
}

// do calls an operation as nobody, or as the user of a session's token.
func (c *console) do(session, operation, input string) (apptest.Value, error) {
	c.t.Helper()
	call := action.Call{Operation: operation, Input: []byte(input), RequestID: string(id.New())}
	call.Caller = &op.Caller{Kind: op.UserActor} // nobody
	if session != "" {
		s, err := c.Accounts.SessionByToken(c.t.Context(), session)
		if err != nil {
			c.t.Fatalf("%s: %v", operation, err)
		}
		call.Caller = account.CallerOfSession(s)
	}
	answer, err := c.door.Do(c.t.Context(), call)
	if err != nil || len(answer.Body) == 0 {
		return apptest.Value{}, err
	}
	r := apptest.ResultOf(c.t, answer, nil)
	return r.OK(c.t, r.Status), nil
}

func (c *console) ok(session, operation, input string) apptest.Value {
	c.t.Helper()
	v, err := c.do(session, operation, input)
	if err != nil {
		c.t.Fatalf("%s: %v", operation, err)
	}
	return v
}

func (c *console) refused(kind *fault.Kind, session, operation, input string) {
	c.t.Helper()
	if _, err := c.do(session, operation, input); !fault.IsKind(err, kind) {
		c.t.Errorf("%s: %v, want %s", operation, err, kind.Code)
	}
}

func login(email, password string) string {
	return fmt.Sprintf(`{"email": %q, "password": %q, "address": "192.0.2.7"}`, email, password)
}

// signIn returns the token of a new session.
func (c *console) signIn(email, password string) string {
	c.t.Helper()
	return c.ok("", "sessions.create", login(email, password)).Text("token")
}

func (c *console) signedOut(tokens ...string) {
	c.t.Helper()
	for _, token := range tokens {
		if _, err := c.Accounts.SessionByToken(c.t.Context(), token); !fault.IsKind(err, fault.Unauthorized) {
			c.t.Errorf("a session that ended: %v", err)
		}
	}
}

// change runs a statement whose one argument is the current time.
func (c *console) change(statement string) {
	c.t.Helper()
	err := c.DB.Write(c.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := db.Exec(ctx, tx, statement, c.Clock.Now())
		return err
	})
	if err != nil {
		c.t.Fatal(err)
	}
}
