package op

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json/jsontext"
)

// How idempotency works. A caller sends a key with a request; a retry with the same key gets the first request's answer
// instead of acting twice. The table idempotency has one row per organization and key. A Write inserts its answer in
// the transaction of its change, so that either both or none are there. A Flow, which acts outside, first commits a
// claim on the key (flow.go) and turns it into the answer at its end.

// KeyLifetime is how long an answer is kept for replay, unless the operator has set a longer time.
const KeyLifetime = 24 * time.Hour

func (r *Runner) keyLifetime() time.Duration { return max(r.KeyLifetime, KeyLifetime) }

// requestKey is an idempotency key in one organization and the request it stands for.
type requestKey struct {
	org         id.ID
	value       string
	fingerprint [32]byte // see Op.fingerprint
	// a row of the operation's own has the key, which goes before any stored answer (Spec.BindsKey)
	bound bool
}

// errAlreadyStored says that another request stored an answer under the key in the meantime.
var errAlreadyStored = errors.New("op: the key has an answer already")

// CheckIdempotencyKey refuses a request that lacks a required key, and a key that is too long, not text, or reserved
// for the steps of automations and proposals.
func (o *Op) CheckIdempotencyKey(q Request) error {
	name := "Idempotency-Key"
	if q.Door == AgentDoor {
		name = "idempotencyKey"
	}
	if !o.TakesIdempotencyKey() {
		return nil
	}
	if !q.HasKey {
		if o.KeyRequired {
			return fault.BadInput.Say("%s is required here, so that a retry does not happen twice. Send a new random "+
				"value for each new request.", name)
		}
		return nil
	}
	if n := utf8.RuneCountInString(q.Key); n < 1 || n > 255 || !utf8.ValidString(q.Key) ||
		bytes.IndexByte([]byte(q.Key), 0) >= 0 {
		return fault.BadInput.Say("%s must have 1 to 255 characters.", name)
	}
	if q.Door != AutomationDoor && strings.HasPrefix(q.Key, StepKeyPrefix) {
		return fault.BadInput.Say("%s must not begin with %s: such keys are those of automations' steps.", name,
			StepKeyPrefix)
	}
	if q.Caller.Proposal == "" && strings.HasPrefix(q.Key, ProposalKeyPrefix) {
		return fault.BadInput.Say("%s must not begin with %s: such keys are those of proposals' steps.", name,
			ProposalKeyPrefix)
	}
	return nil
}

// StepKeyPrefix begins the keys of automations' steps. Such keys can be guessed, so nobody else may use them: whoever
// used one first could make a step answer with something else.
const StepKeyPrefix = "automation/"

// fingerprint is a hash by which two requests with the same key are compared: of the operation, its query and its
// input with sorted keys and numbers as written, or of the bytes of a body that is not JSON. A value of the path counts
// like a field of the body, so that a request has the same fingerprint through every door.
func (o *Op) fingerprint(values []string, params url.Values, text []byte) [32]byte {
	h := sha256.New()
	h.Write([]byte(o.Name + "\n"))
	for _, p := range o.queryProps {
		for _, v := range params[p.name] {
			fmt.Fprintf(h, "%s=%q\n", p.name, v)
		}
	}
	h.Write(o.canonicalInput(values, text))
	return [32]byte(h.Sum(nil))
}

// Fingerprint is the fingerprint of a call with its whole input.
func (o *Op) Fingerprint(input []byte) [32]byte { return o.fingerprint(nil, nil, input) }

// canonicalInput joins the values of the path and the body to one JSON object in canonical form. What is no JSON object
// stays as it is: decoding will refuse it.
func (o *Op) canonicalInput(values []string, text []byte) []byte {
	inner := bytes.TrimSpace(text)
	if len(inner) == 0 {
		inner = []byte("{}")
	}
	whole := make(jsontext.Value, 0, len(inner)+64*len(values))
	if inner[0] != '{' || exceedsMaxDepth(inner) {
		return append(whole, text...)
	}
	whole = append(whole, '{')
	for i, v := range values {
		name, _ := jsontext.AppendQuote(nil, o.pathProps[i].name)
		value, err := jsontext.AppendQuote(nil, v)
		if err != nil {
			return text
		}
		whole = append(append(append(whole, name...), ':'), value...)
		whole = append(whole, ',')
	}
	rest := bytes.TrimSpace(inner[1:])
	if len(rest) > 0 && rest[0] == '}' && len(values) > 0 {
		whole = whole[:len(whole)-1]
	}
	whole = append(whole, rest...)
	if err := whole.Format(jsontext.ReorderRawObjects(true), jsontext.SpaceAfterColon(false),
		jsontext.SpaceAfterComma(false), jsontext.Multiline(false)); err != nil {
		return text
	}
	return whole
}

// exceedsMaxDepth reports whether a text is nested deeper than a valid one can be. Sorting its keys would copy it once
// per level, which takes two seconds for a megabyte: an attack. It will be refused anyway.
func exceedsMaxDepth(text []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			if depth++; depth > maxDepth+1 {
				return true
			}
		case c == '}', c == ']':
			depth--
		}
	}
	return false
}

// sealingPlace is the place that a sealed answer is bound to.
func (k *requestKey) sealingPlace() string { return "idempotency/" + string(k.org) + "/" + k.value }

// storedRow is a row of the table idempotency: an answer, or the claim of a Flow while Status is null.
type storedRow struct {
	Fingerprint []byte      `db:"fingerprint"`
	Status      *int        `db:"status"`
	Body        []byte      `db:"body"`
	Sealed      bool        `db:"sealed"`
	CreatedAt   clock.Time  `db:"created_at"`
	LeaseUntil  *clock.Time `db:"lease_until"`
	Begun       bool        `db:"begun"` // a Flow has saved progress, so an outside call may have been made
	External    bool        `db:"external"`
}

const storedColumns = "fingerprint, status, body, sealed, created_at, lease_until, step IS NOT NULL AS begun, external"

// isExpired reports whether the key is free for another request: its answer is past its lifetime, or it is a claim of
// that age whose holder died before it called anybody outside. A claim with saved progress stays until its outcome is
// known. now is the service's clock and leases the database's, by which leases are set.
func (row *storedRow) isExpired(lifetime time.Duration, now, leases clock.Time) bool {
	if row.CreatedAt.Add(lifetime) > now {
		return false
	}
	return row.Status != nil || !row.Begun && (row.LeaseUntil == nil || *row.LeaseUntil <= leases)
}

// ExpiredCondition is the SQL condition for expired rows, besides their age. It does not ask for the lease: a Flow
// takes a minute at most, so no claim of a day's age is still held.
const ExpiredCondition = "(status IS NOT NULL OR step IS NULL)"

// findKeyRow finds the key's row, and the database's time if the row is a claim. When a row of the operation's own has
// the key, it sets bound and returns db.ErrNoRow.
func (k *requestKey) findKeyRow(ctx context.Context, tx *db.Tx, o *Op) (row storedRow, now clock.Time, err error) {
	if o.BindsKey != nil {
		if k.bound, err = o.BindsKey(ctx, tx, k.org, k.value); err != nil || k.bound {
			return row, now, cmp.Or(err, db.ErrNoRow)
		}
	}
	row, err = db.QueryOne[storedRow](ctx, tx,
		"SELECT "+storedColumns+" FROM idempotency WHERE organization_id = $1 AND key = $2", k.org, k.value)
	if err == nil && row.Status == nil {
		now, err = db.ReadClock(ctx, tx)
	}
	return row, now, err
}

// findStoredAnswer looks for the answer of an earlier request with the key. found also means a refusal: the key is in
// use, or was used for another request.
func (r *Runner) findStoredAnswer(ctx context.Context, c *Call, k *requestKey) (Answer, bool, error) {
	var row storedRow
	var now clock.Time
	err := r.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		row, now, err = k.findKeyRow(ctx, tx, c.op)
		return err
	})
	if errors.Is(err, db.ErrNoRow) {
		return Answer{}, false, nil
	}
	if err != nil {
		return Answer{}, false, err
	}
	return r.answerFromRow(row, c, k, now)
}

// LockKey keeps others from using a key until the transaction ends. On SQLite the transaction itself does so.
func (r *Runner) LockKey(ctx context.Context, tx *db.Tx, org id.ID, value string) error {
	return (&requestKey{org: org, value: value}).lockForWrite(ctx, &Call{Tx: tx})
}

// KeyedCall is a call under an idempotency key.
type KeyedCall struct {
	Op           *Op
	Organization id.ID
	Key          string
	Fingerprint  []byte // see Op.Fingerprint
}

// WasKeyUsed reports whether this call was made under its key. It refuses when a different call was made under the key,
// or when one is running.
func (r *Runner) WasKeyUsed(ctx context.Context, tx *db.Tx, call KeyedCall) (bool, error) {
	k := &requestKey{org: call.Organization, value: call.Key, fingerprint: [32]byte(call.Fingerprint)}
	row, now, err := k.findKeyRow(ctx, tx, call.Op)
	if errors.Is(err, db.ErrNoRow) {
		return k.bound, nil
	}
	if err != nil {
		return false, err
	}
	_, found, err := r.answerFromRow(row, &Call{Now: r.Clock.Now(), runner: r}, k, now)
	return found, err
}

// answerFromRow decides what a stored row means for a request: nothing (false), its answer, or a refusal.
func (r *Runner) answerFromRow(row storedRow, c *Call, k *requestKey, now clock.Time) (Answer, bool, error) {
	if row.isExpired(c.runner.keyLifetime(), c.Now, now) {
		return Answer{}, false, nil
	}
	if !bytes.Equal(row.Fingerprint, k.fingerprint[:]) {
		return Answer{}, true, fault.KeyReused.New()
	}
	if row.Status == nil {
		if row.LeaseUntil != nil && *row.LeaseUntil > now {
			return Answer{}, true, fault.KeyInFlight.New()
		}
		return Answer{}, false, nil // whoever held it is gone, or left it open
	}
	body := row.Body
	if row.Sealed {
		var err error
		if body, err = r.Seal.Open(body, k.sealingPlace()); err != nil {
			return Answer{}, true, err
		}
	}
	if *row.Status == http.StatusNoContent {
		body = nil
	}
	// Whom the answer is about was not stored, so it counts as unknown.
	return Answer{Status: *row.Status, Body: body, Replay: true,
		Exposure: Exposure{External: row.External, Opaque: true}}, true, nil
}

// lockForWrite takes the key for a transaction. On PostgreSQL it is an advisory lock that ends with the transaction: a
// second request with the key is refused at once instead of waiting, and no row has to be committed first. On SQLite,
// runOncePerKey has locked the key in memory.
func (k *requestKey) lockForWrite(ctx context.Context, c *Call) error {
	if c.claim != nil {
		return c.claim.lockUntilCommit(ctx, c.Tx)
	}
	if c.Tx.Engine() != db.Postgres {
		return nil
	}
	ok, err := db.QueryOne[bool](ctx, c.Tx, "SELECT pg_try_advisory_xact_lock($1)", k.advisoryLockID())
	if err == nil && !ok {
		err = fault.KeyInFlight.New()
	}
	return err
}

// advisoryLockID is the key as a number, which is what PostgreSQL's advisory locks take.
func (k *requestKey) advisoryLockID() int64 {
	h := sha256.Sum256([]byte(string(k.org) + "/" + k.value))
	return int64(binary.BigEndian.Uint64(h[:8]))
}

// storeAnswer stores the answer in the transaction of the change. The INSERT also checks the key once more: if there is
// a row that has not expired, another request was faster, and errAlreadyStored rolls this one back.
func (k *requestKey) storeAnswer(ctx context.Context, c *Call, a Answer) error {
	body := a.Body
	if body == nil {
		body = []byte{}
	}
	if c.op.Secret {
		var err error
		if body, err = c.runner.Seal.Seal(body, k.sealingPlace()); err != nil {
			return err
		}
	}
	if c.claim != nil {
		a.Body = body
		return c.claim.storeAnswer(ctx, c.Tx, a, c.op.Secret)
	}
	insert := func() (int64, error) {
		return db.Exec(ctx, c.Tx, `
			INSERT INTO idempotency (organization_id, key, operation, fingerprint, status, body, sealed, created_at,
				fence, external)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9)
			ON CONFLICT (organization_id, key) DO NOTHING`, k.org, k.value, c.op.Name, k.fingerprint[:],
			a.Status, body, c.op.Secret, c.Now, a.Exposure.External)
	}
	n, err := insert()
	if err == nil && n == 0 {
		if err = k.deleteExpired(ctx, c.Tx, c); err == nil {
			n, err = insert()
		}
	}
	if err == nil && n == 0 {
		err = errAlreadyStored
	}
	return err
}

// deleteExpired deletes the row of a key that is free again. The next request inserts a new row instead of reusing the
// old one, because the purge expects rows in the order of their age.
func (k *requestKey) deleteExpired(ctx context.Context, tx *db.Tx, c *Call) error {
	_, err := db.Exec(ctx, tx, `
		DELETE FROM idempotency
		WHERE organization_id = $1 AND key = $2 AND created_at <= $3 AND `+ExpiredCondition, k.org, k.value,
		c.Now.Add(-c.runner.keyLifetime()))
	return err
}

// keyLocks are the keys in use in this process, for SQLite.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]struct{}
}

// tryLock locks a key, or reports that it is in use.
func (l *keyLocks) tryLock(k *requestKey) (release func(), ok bool) {
	name := string(k.org) + "/" + k.value
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, held := l.held[name]; held {
		return nil, false
	}
	if l.held == nil {
		l.held = map[string]struct{}{}
	}
	l.held[name] = struct{}{}
	return func() {
		l.mu.Lock()
		delete(l.held, name)
		l.mu.Unlock()
	}, true
}
