package transfer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	workKind = "import.work"
	workers  = 2
	// workTime is how long one import may keep a worker before it goes back to the
	// queue, so that others get their turn.
	workTime = 20 * time.Second
)

// work names an import to work on.
type work struct {
	Organization id.ID `json:"organizationId"`
	Import       id.ID `json:"importId"`
}

// Handle registers the job that imports the rows.
func (s *Service) Handle() {
	job.HandleFlow(s.Jobs, workKind, s.work, job.Lane("import", workers), job.Timeout(5*time.Minute), job.Attempts(8),
		job.Forget())
}

// errMoved means that other records match the rows now than when the rows were
// prepared. The chunk is then prepared anew.
var errMoved = errors.New("transfer: what the rows match has changed")

// chunk is rows of an import that wait.
type chunk struct {
	Seq  int64 `db:"seq"`
	Rows []row `db:"rows"`
}

// work works on one chunk after the other.
func (s *Service) work(ctx context.Context, j job.Job, w work) (job.Outcome, error) {
	begin := time.Now() //nolint:forbidigo // a duration, not a time
	for {
		v, next, err := s.look(ctx, w)
		switch {
		case errors.Is(err, db.ErrNone):
			return nil, nil //nolint:nilnil // it is gone, or has ended
		case err != nil:
			return s.giveUp(j, w, err)
		case v.Status == Receiving:
			return s.end(w, Failed, "The file was not read to its end. Send it again."), nil
		case next == nil:
			return s.end(w, Succeeded, ""), nil
		}
		caller, err := s.caller(ctx, v)
		if err != nil {
			if fault.Of(err).Status >= 500 {
				return s.giveUp(j, w, err)
			}
			return s.end(w, Failed, fault.Of(err).Sentence()), nil
		}
		if err := s.carryOut(ctx, j, caller, v, next); err != nil {
			return s.giveUp(j, w, err)
		}
		if time.Since(begin) > workTime {
			return nil, job.Later(0)
		}
	}
}

// look loads the import and its next chunk, which is nil at the end. db.ErrNoRow
// means that the import is gone or has ended.
func (s *Service) look(ctx context.Context, w work) (v *Import, next *chunk, err error) {
	err = s.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, next = nil, nil
		found, err := imports.Get(ctx, tx, w.Organization, w.Import)
		if fault.Has(err, fault.NotFound) || err == nil && found.Status.ended() {
			return db.ErrNone
		}
		if err != nil {
			return err
		}
		v = found
		one, err := db.One[chunk](ctx, tx, `
			SELECT seq, rows
			FROM import_chunks
			WHERE organization_id = $1 AND import_id = $2
			ORDER BY seq
			LIMIT 1`, w.Organization, w.Import)
		if errors.Is(err, db.ErrNone) {
			return nil
		}
		next = &one
		return err
	})
	return v, next, err
}

// caller is who made the import, with the permissions that they have now.
func (s *Service) caller(ctx context.Context, v *Import) (*op.Caller, error) {
	var who id.ID
	if v.ActorID != nil {
		who = *v.ActorID
	}
	return s.Makers.Maker(ctx, v.OrganizationID, op.ActorKind(v.ActorKind), who)
}

// giveUp returns the error for another attempt of the job, or fails the import if
// there is none left.
func (s *Service) giveUp(j job.Job, w work, err error) (job.Outcome, error) {
	if errors.Is(err, errMoved) {
		return nil, job.Later(0)
	}
	if !j.Last() || errors.Is(err, context.Canceled) || errors.Is(err, job.ErrStale) {
		return nil, err
	}
	s.Log.Error("an import failed", "import", w.Import, "err", err)
	return s.end(w, Failed, "Something went wrong on our side. Import the rest of the file again: "+
		"what is there already stays unchanged."), nil
}

// end returns what the job writes when an import ends: its status, and the event.
func (s *Service) end(w work, status Status, why string) job.Outcome {
	return func(ctx context.Context, tx *db.Tx) error {
		v, err := imports.Lock(ctx, tx, w.Organization, w.Import)
		if fault.Has(err, fault.NotFound) || err == nil && v.Status.ended() {
			return nil
		}
		if err != nil {
			return err
		}
		if err := dropChunks(ctx, tx, v); err != nil {
			return err
		}
		now := s.Clock.Now()
		v.Status, v.UpdatedAt, v.CompletedAt = status, now, &now
		if why != "" {
			v.ErrorMessage = &why
		}
		if err := imports.Save(ctx, tx, v); err != nil {
			return err
		}
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		e := event.Event{Organization: v.OrganizationID, At: now, Type: "import." + string(status), ResourceID: v.ID,
			Data: data}.BySystem()
		e.RequestID = string(v.ID)
		return s.Events.Append(ctx, tx, e)
	}
}

// prepared is a chunk whose rows were checked and matched with existing records,
// outside the transaction that writes them.
type prepared struct {
	rows  []op.BatchRow
	found []*match
	keys  []rowKeys

	guarded bool // each row is written inside a savepoint of its own
}

// match is the record that a row changes. err says why it cannot.
type match struct {
	ID   id.ID
	Tags []string
	err  error
}

// prepare finds the records that the rows change, and checks the rows as the
// batch operation of their noun does.
func (s *Service) prepare(ctx context.Context, c *op.Call, objectType string, rows []row) (*prepared, error) {
	p := &prepared{rows: make([]op.BatchRow, len(rows)), keys: make([]rowKeys, len(rows))}
	for i, r := range rows {
		if err := json.Unmarshal(r.Row, &p.keys[i]); err != nil {
			return nil, fmt.Errorf("transfer: a stored row: %w", err)
		}
	}
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		p.found, err = p.match(ctx, tx, c.Org, objectType)
		return err
	})
	if err != nil {
		return nil, err
	}
	batch := s.Catalog.Named(nouns[objectType].batch)
	for i, r := range rows {
		text, err := p.found[i].change(r.Row)
		if err != nil {
			return nil, err
		}
		p.rows[i] = batch.ReadRow(ctx, c, text)
	}
	return p, nil
}

// change turns a row that would create a record into one that changes the match:
// it adds the id, adds tags to those that are there, and leaves out lists that an
// update does not take.
func (m *match) change(text jsontext.Value) (jsontext.Value, error) {
	if m == nil || m.err != nil {
		return text, nil
	}
	fields := map[string]jsontext.Value{}
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	for _, name := range []string{"emails", "phoneNumbers", "addresses"} {
		delete(fields, name)
	}
	var err error
	if fields["id"], err = json.Marshal(m.ID); err != nil {
		return nil, err
	}
	if more, ok := fields["tags"]; ok {
		var tags []string
		if err := json.Unmarshal(more, &tags); err != nil {
			return nil, err
		}
		if fields["tags"], err = json.Marshal(append(m.Tags[:len(m.Tags):len(m.Tags)], tags...)); err != nil {
			return nil, err
		}
	}
	return json.Marshal(fields, json.Deterministic(true))
}

// match finds the record that each row changes: the one with its externalId, or
// else the contact with one of its emails. It is nil for a row that creates one.
func (p *prepared) match(ctx context.Context, tx *db.Tx, org id.ID, objectType string) ([]*match, error) {
	var externals, emails []string
	for _, k := range p.keys {
		if k.ExternalID != "" {
			externals = append(externals, k.ExternalID)
		}
		for _, e := range k.Emails {
			emails = append(emails, db.Fold(e.Email))
		}
	}
	find := contact.Find
	if objectType == "customers" {
		find = customer.Find
	}
	known, err := find(ctx, tx, org, externals, emails)
	if err != nil {
		return nil, err
	}
	byExternal, byEmail := map[string]*match{}, map[string]*match{}
	for i := range known {
		f := &known[i]
		m := &match{ID: f.ID, Tags: f.Tags}
		if f.ExternalID != nil && byExternal[*f.ExternalID] == nil {
			byExternal[*f.ExternalID] = m
		}
		if f.Email == nil {
			continue
		}
		if other := byEmail[*f.Email]; other != nil && other.ID != f.ID {
			m = &match{ID: other.ID, err: contact.EmailShared.New()}
		}
		byEmail[*f.Email] = m
	}
	out := make([]*match, len(p.keys))
	for i, k := range p.keys {
		if out[i] = byExternal[k.ExternalID]; out[i] != nil {
			continue
		}
		for _, e := range k.Emails {
			if out[i] = byEmail[db.Fold(e.Email)]; out[i] != nil {
				break
			}
		}
	}
	return out, nil
}

// same reports whether the rows still match the same records.
func (p *prepared) same(now []*match) bool {
	for i, m := range now {
		was := p.found[i]
		if (m == nil) != (was == nil) || m != nil && (m.ID != was.ID || (m.err == nil) != (was.err == nil)) {
			return false
		}
	}
	return true
}

// carryOut imports a chunk. A savepoint around each row would cost as much as the
// row, and nearly all that can be wrong is known before the transaction. So it is
// tried without savepoints first, and again with them if a row is refused.
func (s *Service) carryOut(ctx context.Context, j job.Job, caller *op.Caller, v *Import, next *chunk) error {
	batch := s.Catalog.Named(nouns[v.ObjectType].batch)
	c := s.Runner.Continue(batch, caller, op.REST, string(v.ID))
	p, err := s.prepare(ctx, c, v.ObjectType, next.Rows)
	if err != nil {
		return err
	}
	err = s.writeChunk(ctx, j, c, p, v, next)
	if errors.Is(err, errRefused) {
		p.guarded = true
		err = s.writeChunk(ctx, j, c, p, v, next)
	}
	return err
}

// errRefused says that a row was refused that no savepoint guarded.
var errRefused = errors.New("transfer: a row was refused")

// writeChunk removes the chunk, writes its rows and saves the import's progress in
// one transaction, so that no crash does a row twice.
func (s *Service) writeChunk(ctx context.Context, j job.Job, c *op.Call, p *prepared, v *Import, next *chunk) error {
	return c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := j.Keep(ctx, tx); err != nil {
			return err
		}
		// Two imports, or an import and a put, must not create the same record twice: they take turns by this lock.
		if err := db.LockOrganization(ctx, tx, c.Org); err != nil {
			return err
		}
		n, err := db.Exec(ctx, tx, `
			DELETE FROM import_chunks
			WHERE organization_id = $1 AND import_id = $2 AND seq = $3`, c.Org, v.ID, next.Seq)
		if err != nil || n == 0 {
			return err // somebody has done it
		}
		found, err := p.match(ctx, tx, c.Org, v.ObjectType)
		if err != nil {
			return err
		}
		if !p.same(found) {
			return errMoved
		}
		state, err := imports.Lock(ctx, tx, c.Org, v.ID)
		if err != nil {
			return err
		}
		state.Status, state.UpdatedAt = Running, c.Now
		for i := range p.rows {
			if err := p.write(ctx, c, state, i, &next.Rows[i]); err != nil {
				return err
			}
		}
		return imports.Save(ctx, tx, state)
	})
}

// issue is what is wrong with a row before it is written.
func (p *prepared) issue(i int) error {
	if m := p.found[i]; m != nil && m.err != nil {
		return m.err
	}
	return p.rows[i].Err()
}

// write imports one row, and counts what became of it.
func (p *prepared) write(ctx context.Context, c *op.Call, v *Import, i int, r *row) error {
	emitted := c.Emitted()
	known := p.issue(i)
	if again := v.repeats(r); known == nil && again != nil {
		v.fail(*again)
		return nil
	}
	err := known
	switch {
	case known != nil:
	case p.guarded:
		_, err = p.rows[i].Try(ctx, c)
	default:
		_, err = p.rows[i].Run(ctx, c)
	}
	switch {
	case err != nil && fault.Of(err).Status >= 500:
		return err
	case err != nil && known == nil && !p.guarded:
		return errRefused
	case err != nil:
		v.fail(issueOf(r.Line, err))
		return nil
	case p.found[i] == nil:
		v.Counts.Created++
	case c.Emitted() > emitted:
		v.Counts.Updated++
	default:
		v.Counts.Unchanged++
	}
	v.Counts.Processed++
	return nil
}
