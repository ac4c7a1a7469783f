package transfer

import (
	"context"
	"errors"
	"io"
	"time"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/limit"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"

	"github.com/go-json-experiment/json"
)

const (
	maxFileBytes   = 64 << 20 // of a file
	formOverhead   = 1 << 20  // for the other parts of a form
	maxLiveImports = 3        // imports of an organization that wait or run
	chunkRows      = 250      // rows that share a transaction
	// chunkBytes ends a chunk too, because a job holds a whole chunk in memory.
	chunkBytes = 1 << 20
	// receiveTime is how long reading a file may take. An import that is still
	// receiving then is failed by its job: the process that read it has died.
	receiveTimeout = time.Hour
)

// fileReaders bounds how many files of one organization a process reads at a time.
var fileReaders = limit.ConcurrencyLimiter[id.ID]{Most: 2}

type importCreate struct {
	File       op.Upload `json:"file" doc:"CSV with a line of headings, or vCard; up to 64 MiB and 500,000 records"`
	ObjectType string    `json:"objectType" enum:"contacts,customers"`
	Mapping    *string   `json:"mapping" max:"60000" doc:"JSON: an object from column to field; null ignores a column"`
	DryRun     bool      `json:"dryRun" default:"false" doc:"true stores nothing and says what each line would do"`

	LinesAction *string `json:"linesAction" enum:"create,update,unchanged,fail" doc:"of a dry run: only such lines"`
	LinesOffset int     `json:"linesOffset" default:"0" min:"0" max:"500000" doc:"of a dry run: lines to pass over"`
}

// createImport stores the file, reads it and leaves the rows to a job.
func (s *Service) createImport(ctx context.Context, c *op.Call, in importCreate, stream *op.Stream) (*Import, error) {
	end, ok := fileReaders.Begin(c.Org)
	if !ok {
		f := fault.RateLimited.Say("%d files are being read at the moment. Wait for one to end.", fileReaders.Most)
		f.RetryAfter = 5 * time.Second
		return nil, f
	}
	defer end()
	var saved *file.Saved
	defer func() { saved.Discard(ctx) }()
	err := c.Form(stream, &in, maxFileBytes+formOverhead, func(name string, r io.Reader) (err error) {
		if in.ObjectType != "" {
			if err := s.permitImport(c, in.ObjectType); err != nil {
				return err
			}
		}
		saved, err = s.Files.Save(ctx, c.Org, name, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.permitImport(c, in.ObjectType); err != nil {
		return nil, err
	}
	mapping, err := in.parseMapping()
	if err != nil {
		return nil, err
	}
	text, err := saved.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	r, err := newRecordReader(cancelableReader{ctx, text}, in.ObjectType, mapping, in.DryRun)
	if err != nil {
		return nil, err
	}
	c.Now = s.Clock.Now() // the import begins now, not when its first byte arrived
	v := &Import{Record: c.NewRecord(), ObjectType: in.ObjectType, FileName: saved.Name, Status: Receiving,
		Errors: []Issue{}, IgnoredColumns: r.ignored, ActorKind: string(c.Caller.Kind),
		ActorID: c.Caller.ActorIDOrNil()}
	if in.DryRun {
		return v, s.rehearseImport(ctx, c, v, r, &in)
	}
	return s.storeImport(ctx, c, v, r)
}

// permitImport refuses a caller who may not create what the file contains. The right
// to change existing records is checked for each row.
func (s *Service) permitImport(c *op.Call, objectType string) error {
	return c.RequirePermission(objectType, op.ActionCreate, "Importing "+objectType)
}

// parseMapping parses the mapping from column to field. Nil means none was given.
func (in *importCreate) parseMapping() (map[string]*string, error) {
	if in.Mapping == nil {
		return nil, nil //nolint:nilnil // no mapping is a mapping by headings
	}
	out := map[string]*string{}
	if err := json.Unmarshal([]byte(*in.Mapping), &out); err != nil {
		return nil, fault.Field("mapping", "Expected a JSON object from column to field, "+
			`for example {"E-Mail": "email"}`)
	}
	return out, nil
}

// eachChunk reads a file and passes its rows to fn, a chunk at a time. Records that
// cannot be read go to fail.
func eachChunk(v *Import, r *recordReader, fail func(Issue), fn func([]row) error) error {
	rows, size := make([]row, 0, chunkRows), 0
	for {
		one, issue, err := r.nextRow()
		ended := errors.Is(err, io.EOF)
		switch {
		case ended:
		case err != nil:
			return err
		case issue != nil:
			fail(*issue)
		default:
			rows = append(rows, one)
			size += len(one.Row)
		}
		if len(rows) == chunkRows || size >= chunkBytes || ended && len(rows) > 0 {
			if err := fn(rows); err != nil {
				return err
			}
			rows, size = make([]row, 0, chunkRows), 0
		}
		if ended {
			v.Counts.Total = r.records
			return nil
		}
	}
}

// storeImport keeps the rows of a file, and queues the job once all are there.
func (s *Service) storeImport(ctx context.Context, c *op.Call, v *Import, r *recordReader) (*Import, error) {
	if err := s.beginImport(ctx, c, v); err != nil {
		return nil, err
	}
	out, err := s.receiveRows(ctx, c, v, r)
	if err != nil {
		s.discardImport(ctx, v)
	}
	return out, err
}

// beginImport creates the import, unless too many are under way. It also queues the
// job for an hour later, which cleans up if this process dies while it reads.
func (s *Service) beginImport(ctx context.Context, c *op.Call, v *Import) error {
	return c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := db.LockOrganization(ctx, tx, c.Org); err != nil {
			return db.AsNotFound(err, "organization")
		}
		live, err := db.QueryOne[int](ctx, tx, `
			SELECT count(*)
			FROM imports
			WHERE organization_id = $1 AND status IN ('receiving', 'queued', 'running')`, c.Org)
		if err != nil {
			return err
		}
		if live >= maxLiveImports {
			return TooManyImports.New()
		}
		if err := imports.Insert(ctx, tx, v); err != nil {
			return err
		}
		_, err = s.Jobs.Enqueue(ctx, tx, workKind, workArgs{c.Org, v.ID}, job.ForOrganization(c.Org),
			job.UniqueKey(string(v.ID)), job.RunAt(c.Now.Add(receiveTimeout)))
		return err
	})
}

// receiveRows stores the rows in chunks, a transaction each, and at the end replaces
// the job that beginImport queued by one that starts at once.
func (s *Service) receiveRows(ctx context.Context, c *op.Call, v *Import, r *recordReader) (*Import, error) {
	err := eachChunk(v, r, v.addFailure, func(rows []row) error {
		text, err := json.Marshal(rows)
		if err != nil {
			return err
		}
		return c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			if err := s.Files.ChargeBytes(tx, c.Org, int64(len(text))); err != nil {
				return err
			}
			_, err := db.Exec(ctx, tx, `
				INSERT INTO import_chunks (organization_id, import_id, rows, size_bytes)
				VALUES ($1, $2, $3, $4)`, c.Org, v.ID, db.JSON(text), len(text))
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	c.Now = s.Clock.Now()
	v.Status, v.UpdatedAt = Queued, c.Now
	return op.Finish(ctx, c, func(ctx context.Context) (*Import, error) {
		if _, err := s.Jobs.CancelByKey(ctx, c.Tx, workKind, string(v.ID)); err != nil {
			return nil, err
		}
		if _, err := imports.Lock(ctx, c.Tx, c.Org, v.ID); err != nil {
			return nil, err
		}
		if err := imports.Save(ctx, c.Tx, v); err != nil {
			return nil, err
		}
		_, err := s.Jobs.Enqueue(ctx, c.Tx, workKind, workArgs{c.Org, v.ID}, job.ForOrganization(c.Org),
			job.UniqueKey(string(v.ID)))
		if err != nil {
			return nil, err
		}
		return v, c.Emit("import.created", v.ID, v)
	})
}

// discardImport removes an import whose file could not be read. If that fails, the job
// that beginImport queued does it later.
func (s *Service) discardImport(ctx context.Context, v *Import) {
	err := s.DB.Write(context.WithoutCancel(ctx), func(ctx context.Context, tx *db.Tx) error {
		if _, err := s.Jobs.CancelByKey(ctx, tx, workKind, string(v.ID)); err != nil {
			return err
		}
		if err := deleteChunks(ctx, tx, v); err != nil {
			return err
		}
		_, err := db.Exec(ctx, tx, `
			DELETE FROM imports
			WHERE organization_id = $1 AND id = $2 AND status = 'receiving'`, v.OrganizationID, v.ID)
		return err
	})
	if err != nil {
		s.Log.WarnContext(ctx, "an import that broke off is left to its job", "import", v.ID, "err", err)
	}
}

func deleteChunks(ctx context.Context, tx *db.Tx, v *Import) error {
	_, err := db.Exec(ctx, tx, "DELETE FROM import_chunks WHERE organization_id = $1 AND import_id = $2",
		v.OrganizationID, v.ID)
	return err
}
