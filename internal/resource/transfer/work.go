package transfer

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	workKind      = "import.work"
	importWorkers = 2
	// workTime is how long one import may keep a worker before it goes back to the
	// queue, so that others get their turn.
	turnTime = 20 * time.Second
)

// workArgs names an import to work on.
type workArgs struct {
	Organization id.ID `json:"organizationId"`
	Import       id.ID `json:"importId"`
}

// Handle registers the job that imports the rows.
func (s *Service) Handle() {
	job.HandleFlow(s.Jobs, workKind, s.importChunks, job.InLane("import", importWorkers),
		job.RunTimeout(5*time.Minute), job.Attempts(8), job.ForgetWhenDone())
}

// errMatchesChanged means that other records match the rows now than when the rows were
// prepared. The chunk is then prepared anew.
var errMatchesChanged = errors.New("transfer: what the rows match has changed")

// chunk is rows of an import that wait.
type chunk struct {
	Seq  int64 `db:"seq"`
	Rows []row `db:"rows"`
}

// importChunks works on one chunk after the other.
func (s *Service) importChunks(ctx context.Context, j job.Job, w workArgs) (job.Outcome, error) {
	begin := time.Now() //nolint:forbidigo // a duration, not a time
	for {
		v, next, err := s.loadNextChunk(ctx, w)
		switch {
		case errors.Is(err, db.ErrNoRow):
			return nil, nil //nolint:nilnil // it is gone, or has ended
		case err != nil:
			return s.retryOrFail(j, w, err)
		case v.Status == Receiving:
			return s.endOutcome(w, Failed, "The file was not read to its end. Send it again."), nil
		case next == nil:
			return s.endOutcome(w, Succeeded, ""), nil
		}
		caller, err := s.importCaller(ctx, v)
		if err != nil {
			if fault.FromError(err).Status >= 500 {
				return s.retryOrFail(j, w, err)
			}
			return s.endOutcome(w, Failed, fault.FromError(err).Sentence()), nil
		}
		if err := s.importChunk(ctx, j, caller, v, next); err != nil {
			return s.retryOrFail(j, w, err)
		}
		if time.Since(begin) > turnTime {
			return nil, job.RunAgainAfter(0)
		}
	}
}

// loadNextChunk loads the import and its next chunk, which is nil at the end. db.ErrNoRow
// means that the import is gone or has ended.
func (s *Service) loadNextChunk(ctx context.Context, w workArgs) (v *Import, next *chunk, err error) {
	err = s.DB.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		v, next = nil, nil
		found, err := imports.Get(ctx, tx, w.Organization, w.Import)
		if fault.IsKind(err, fault.NotFound) || err == nil && found.Status.hasEnded() {
			return db.ErrNoRow
		}
		if err != nil {
			return err
		}
		v = found
		one, err := db.QueryOne[chunk](ctx, tx, `
			SELECT seq, rows
			FROM import_chunks
			WHERE organization_id = $1 AND import_id = $2 AND refused_lines IS NULL
			ORDER BY seq
			LIMIT 1`, w.Organization, w.Import)
		if errors.Is(err, db.ErrNoRow) {
			return nil
		}
		next = &one
		return err
	})
	return v, next, err
}

// importCaller is who made the import, with the permissions that they have now.
func (s *Service) importCaller(ctx context.Context, v *Import) (*op.Caller, error) {
	var who id.ID
	if v.ActorID != nil {
		who = *v.ActorID
	}
	return s.Makers.MakerAsCaller(ctx, v.OrganizationID, op.ActorKind(v.ActorKind), who)
}

// retryOrFail returns the error for another attempt of the job, or fails the import if
// there is none left.
func (s *Service) retryOrFail(j job.Job, w workArgs, err error) (job.Outcome, error) {
	if errors.Is(err, errMatchesChanged) {
		return nil, job.RunAgainAfter(0)
	}
	if !j.IsLastAttempt() || errors.Is(err, context.Canceled) || errors.Is(err, job.ErrLeaseLost) {
		return nil, err
	}
	s.Log.Error("an import failed", "import", w.Import, "err", err)
	return s.endOutcome(w, Failed, "Something went wrong on our side. Import the rest of the file again: "+
		"what is there already stays unchanged."), nil
}

// endOutcome returns what the job writes when an import ends: its status, and the event.
func (s *Service) endOutcome(w workArgs, status Status, why string) job.Outcome {
	return func(ctx context.Context, tx *db.Tx) error {
		v, err := imports.Lock(ctx, tx, w.Organization, w.Import)
		if fault.IsKind(err, fault.NotFound) || err == nil && v.Status.hasEnded() {
			return nil
		}
		if err != nil {
			return err
		}
		if err := deleteChunks(ctx, tx, v); err != nil {
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

// preparedChunk is a chunk whose rows were checked and matched with existing records,
// outside the transaction that writes them.
type preparedChunk struct {
	rows  []op.BatchRow
	found []*matchedRecord
	keys  []rowKeys

	refused refusedLines // of the chunks before it, and of this one so far

	guarded bool // each row is written inside a savepoint of its own
}

// matchedRecord is the record that a row changes. err says why it cannot.
type matchedRecord struct {
	ID   id.ID
	Tags []string
	err  error
}

// prepareRows finds the records that the rows change, and checks the rows as the
// batch operation of their noun does.
func (s *Service) prepareRows(ctx context.Context, c *op.Call, objectType string, rows []row) (*preparedChunk, error) {
	p := &preparedChunk{rows: make([]op.BatchRow, len(rows)), keys: make([]rowKeys, len(rows))}
	for i, r := range rows {
		if err := json.Unmarshal(r.Row, &p.keys[i]); err != nil {
			return nil, fmt.Errorf("transfer: a stored row: %w", err)
		}
	}
	err := c.Read(ctx, func(ctx context.Context, tx *db.Tx) (err error) {
		p.found, err = p.findMatches(ctx, tx, c.Org, objectType)
		return err
	})
	if err != nil {
		return nil, err
	}
	batch := s.Catalog.Named(nouns[objectType].batch)
	for i, r := range rows {
		text, err := p.found[i].toUpdate(r.Row)
		if err != nil {
			return nil, err
		}
		p.rows[i] = batch.ParseBatchRow(ctx, c, text)
	}
	return p, nil
}

// toUpdate turns a row that would create a record into one that changes the match:
// it adds the id, adds tags to those that are there, and leaves out lists that an
// update does not take.
func (m *matchedRecord) toUpdate(text jsontext.Value) (jsontext.Value, error) {
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

// findMatches finds the record that each row changes: the one with its externalId, or
// else the contact with one of its emails. It is nil for a row that creates one.
func (p *preparedChunk) findMatches(ctx context.Context, tx *db.Tx, org id.ID, objectType string) ([]*matchedRecord,
	error) {
	var externals, emails []string
	for _, k := range p.keys {
		if k.ExternalID != "" {
			externals = append(externals, k.ExternalID)
		}
		for _, e := range k.Emails {
			emails = append(emails, db.FoldText(e.Email))
		}
	}
	find := contact.FindKnown
	if objectType == "customers" {
		find = customer.FindKnown
	}
	known, err := find(ctx, tx, org, externals, emails)
	if err != nil {
		return nil, err
	}
	byExternal, byEmail := map[string]*matchedRecord{}, map[string]*matchedRecord{}
	for i := range known {
		f := &known[i]
		m := &matchedRecord{ID: f.ID, Tags: f.Tags}
		if f.ExternalID != nil && byExternal[*f.ExternalID] == nil {
			byExternal[*f.ExternalID] = m
		}
		if f.Email == nil {
			continue
		}
		if other := byEmail[*f.Email]; other != nil && other.ID != f.ID {
			m = &matchedRecord{ID: other.ID, err: contact.EmailShared.New()}
		}
		byEmail[*f.Email] = m
	}
	out := make([]*matchedRecord, len(p.keys))
	for i, k := range p.keys {
		if out[i] = byExternal[k.ExternalID]; out[i] != nil {
			continue
		}
		for _, e := range k.Emails {
			if out[i] = byEmail[db.FoldText(e.Email)]; out[i] != nil {
				break
			}
		}
	}
	return out, nil
}

// sameMatches reports whether the rows still match the same records.
func (p *preparedChunk) sameMatches(now []*matchedRecord) bool {
	for i, m := range now {
		was := p.found[i]
		if (m == nil) != (was == nil) || m != nil && (m.ID != was.ID || (m.err == nil) != (was.err == nil)) {
			return false
		}
	}
	return true
}

// importChunk imports a chunk. A savepoint around each row would cost as much as the
// row, and nearly all that can be wrong is known before the transaction. So it is
// tried without savepoints first, and again with them if a row is refused.
func (s *Service) importChunk(ctx context.Context, j job.Job, caller *op.Caller, v *Import, next *chunk) error {
	batch := s.Catalog.Named(nouns[v.ObjectType].batch)
	c := s.Runner.NewFollowUpCall(batch, caller, op.RESTDoor, string(v.ID))
	p, err := s.prepareRows(ctx, c, v.ObjectType, next.Rows)
	if err != nil {
		return err
	}
	err = p.writeChunk(ctx, j, c, v, next)
	if errors.Is(err, errRowRefused) {
		p.guarded = true
		err = p.writeChunk(ctx, j, c, v, next)
	}
	return err
}

// errRowRefused says that a row was refused that no savepoint guarded.
var errRowRefused = errors.New("transfer: a row was refused")

// writeChunk removes the chunk, writes its rows and saves the import's progress in
// one transaction, so that no crash does a row twice.
func (p *preparedChunk) writeChunk(ctx context.Context, j job.Job, c *op.Call, v *Import, next *chunk) error {
	return c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := j.RenewLease(ctx, tx); err != nil {
			return err
		}
		// Two imports, or an import and a put, must not create the same record twice: they take turns by this lock.
		if err := db.LockOrganization(ctx, tx, c.Org); err != nil {
			return err
		}
		n, err := db.Exec(ctx, tx, `
			DELETE FROM import_chunks
			WHERE organization_id = $1 AND import_id = $2 AND seq = $3 AND refused_lines IS NULL`,
			c.Org, v.ID, next.Seq)
		if err != nil || n == 0 {
			return err // somebody has done it
		}
		if p.refused, err = next.loadRefusedLines(ctx, tx, v); err != nil {
			return err
		}
		found, err := p.findMatches(ctx, tx, c.Org, v.ObjectType)
		if err != nil {
			return err
		}
		if !p.sameMatches(found) {
			return errMatchesChanged
		}
		state, err := imports.Lock(ctx, tx, c.Org, v.ID)
		if err != nil {
			return err
		}
		state.Status, state.UpdatedAt = Running, c.Now
		for i := range p.rows {
			if err := p.writeRow(ctx, c, state, i, &next.Rows[i]); err != nil {
				return err
			}
		}
		if err := next.storeRefusedLines(ctx, tx, v, p.refused); err != nil {
			return err
		}
		return imports.Save(ctx, tx, state)
	})
}

// loadRefusedLines loads the refused lines of the chunks before this one, if one of its rows repeats an earlier line.
func (k *chunk) loadRefusedLines(ctx context.Context, tx *db.Tx, v *Import) (refusedLines, error) {
	refused := refusedLines{}
	if !slices.ContainsFunc(k.Rows, func(r row) bool { return len(r.Earlier) > 0 }) {
		return refused, nil
	}
	chunks, err := db.QueryAll[[]int](ctx, tx, `
		SELECT refused_lines
		FROM import_chunks
		WHERE organization_id = $1 AND import_id = $2 AND refused_lines IS NOT NULL`, v.OrganizationID, v.ID)
	for _, lines := range chunks {
		for _, line := range lines {
			refused[line] = true
		}
	}
	return refused, err
}

// storeRefusedLines keeps the refused lines of the chunk for those after it. They need a chunk of their own, because
// the rows themselves are gone.
func (k *chunk) storeRefusedLines(ctx context.Context, tx *db.Tx, v *Import, refused refusedLines) error {
	var lines []int
	for _, r := range k.Rows {
		if refused[r.Line] {
			lines = append(lines, r.Line)
		}
	}
	if lines == nil {
		return nil
	}
	text, err := json.Marshal(lines)
	if err != nil {
		return err
	}
	_, err = db.Exec(ctx, tx, `
		INSERT INTO import_chunks (organization_id, import_id, rows, size_bytes, refused_lines)
		VALUES ($1, $2, '[]', $3, $4)`, v.OrganizationID, v.ID, len(text), db.JSON(text))
	return err
}

// rowIssue is what is wrong with a row before it is written.
func (p *preparedChunk) rowIssue(i int) error {
	if m := p.found[i]; m != nil && m.err != nil {
		return m.err
	}
	return p.rows[i].Err()
}

// writeRow imports one row, and counts what became of it.
func (p *preparedChunk) writeRow(ctx context.Context, c *op.Call, v *Import, i int, r *row) error {
	emitted := c.EmittedCount()
	known := p.rowIssue(i)
	if again := p.refused.repeatIssue(r); known == nil && again != nil {
		p.addFailure(v, *again)
		return nil
	}
	err := known
	switch {
	case known != nil:
	case p.guarded:
		_, err = p.rows[i].RunInSavepoint(ctx, c)
	default:
		_, err = p.rows[i].Run(ctx, c)
	}
	switch {
	case err != nil && fault.FromError(err).Status >= 500:
		return err
	case err != nil && known == nil && !p.guarded:
		return errRowRefused
	case err != nil:
		p.addFailure(v, issueOfError(r, err))
		return nil
	case p.found[i] == nil:
		v.Counts.Created++
	case c.EmittedCount() > emitted:
		v.Counts.Updated++
	default:
		v.Counts.Unchanged++
	}
	v.Counts.Processed++
	return nil
}

// addFailure counts a row that was refused.
func (p *preparedChunk) addFailure(v *Import, i Issue) {
	v.addFailure(i)
	p.refused[i.Line] = true
}
