// Package transfer imports contacts and customers from CSV and vCard files.
//
// Start reading at Import in this file, then Service.createImport (create.go).
// It reads the uploaded file into rows: csv.go and vcard.go parse it, mapping.go
// turns columns into fields, and reader.go joins them. The rows are stored in
// chunks. A job (work.go) then works on one chunk after the other, with the
// batch operation of the noun. A dry run stores nothing and answers at once.
//
// A chunk, what became of its rows and the progress of the import are committed
// together, so a crash neither repeats nor loses a row. A row that is wrong is
// reported and never stops the others. No file is held in memory as a whole.
package transfer

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/job"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/file"
)

// Makers looks up the caller who made an import as they are now. It refuses one
// who may no longer act.
type Makers interface {
	MakerAsCaller(ctx context.Context, org id.ID, kind op.ActorKind, maker id.ID) (*op.Caller, error)
}

// Config is what imports need. All of it is required.
type Config struct {
	DB      *db.DB
	Clock   *clock.Clock
	Log     *slog.Logger
	Jobs    *job.Queue
	Events  *event.Log
	Files   *file.Store
	Makers  Makers
	Runner  *op.Runner
	Catalog *op.Catalog // not used by New, so it may still be incomplete
}

// Service imports files.
type Service struct{ Config }

// New makes the service. It panics when a required field is missing.
func New(c Config) *Service {
	config.RequireFields(c, "DB", "Clock", "Log", "Jobs", "Events", "Files", "Makers", "Runner", "Catalog")
	return &Service{c}
}

// Import is a file that was handed in, and what became of its rows.
type Import struct {
	op.Record
	ObjectType string  `json:"objectType" enum:"contacts,customers"`
	FileName   string  `json:"fileName"`
	Status     Status  `json:"status" enum:"receiving,queued,running,succeeded,failed"`
	DryRun     bool    `json:"dryRun" db:"-" doc:"nothing was stored, and id names nothing"`
	Counts     Counts  `json:"counts"`
	Errors     []Issue `json:"errors" max:"1000" doc:"the first 1,000 by line; in a list the first 10"`

	IgnoredColumns []string    `json:"ignoredColumns" max:"500" doc:"columns of the file that were not used"`
	ErrorMessage   *string     `json:"errorMessage" max:"1000" doc:"why it failed as a whole"`
	CompletedAt    *clock.Time `json:"completedAt"`

	Lines   *[]Line   `json:"lines,omitzero" db:"-" max:"1000" doc:"of a dry run: what 1,000 lines would do"`
	Columns *[]Column `json:"columns,omitzero" db:"-" max:"500" doc:"of a dry run of a CSV"`

	Seq       int64  `json:"-" db:"seq"`
	ActorKind string `json:"-" db:"actor_kind"`
	ActorID   *id.ID `json:"-" db:"actor_id"`
}

// Status is how far an import is.
type Status string

// An import is received, waits for its turn, runs and ends.
const (
	Receiving Status = "receiving"
	Queued    Status = "queued"
	Running   Status = "running"
	Succeeded Status = "succeeded"
	Failed    Status = "failed"
)

func (s Status) hasEnded() bool { return s == Succeeded || s == Failed }

// Counts says what became of the records of a file. All but Total grow while the
// import runs.
type Counts struct {
	Total     int `json:"total" doc:"records in the file, without empty lines"`
	Processed int `json:"processed" doc:"the sum of those below"`
	Created   int `json:"created"`
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged" doc:"as the file says already"`
	Failed    int `json:"failed"`
}

// Issue is why a record was not taken.
type Issue struct {
	Line    int     `json:"line" doc:"where the record begins, from 1"`
	Field   *string `json:"field" doc:"null when it is about the whole record"`
	Message string  `json:"message" max:"1000"`
	Values  []Value `json:"values,omitempty" max:"500" doc:"what the record says, unless it is long"`
}

// Line is what a record would do.
type Line struct {
	Line   int     `json:"line"`
	Action string  `json:"action" enum:"create,update,unchanged,fail"`
	ID     *id.ID  `json:"id" doc:"the record that it would change"`
	Values []Value `json:"values" max:"500" doc:"what it says, by field"`
}

// Value is what a record of the file says for a field, in words.
type Value struct {
	Field  string  `json:"field"`
	Before *string `json:"before" max:"-1" doc:"what the record that it changes has now; null for nothing"`
	After  string  `json:"after" max:"-1"`
}

// Changes reports whether it differs from what is there.
func (v *Value) Changes() bool { return v.Before == nil || *v.Before != v.After }

// Column is a column of a CSV file, and what becomes of it.
type Column struct {
	Heading string   `json:"heading" max:"-1"`
	Field   *string  `json:"field" doc:"null when it is not used"`
	Samples []string `json:"samples" max:"3" doc:"its first values"`
	Filled  int      `json:"filled" doc:"records that have a value"`
	Refused int      `json:"refused" doc:"records that are refused for it"`
}

// maxIssues is how many errors an import keeps, and how many lines a dry run shows.
const maxIssues = 1000

// addFailure counts a record that was not taken, and keeps the first errors, in the
// order of their lines.
func (v *Import) addFailure(i Issue) {
	v.Counts.Failed++
	v.Counts.Processed++
	if len(v.Errors) < maxIssues {
		at, _ := slices.BinarySearchFunc(v.Errors, i, func(a, b Issue) int { return cmp.Compare(a.Line, b.Line) })
		v.Errors = slices.Insert(v.Errors, at, i)
	}
}

var imports = db.NewTable[Import]("imports", db.Life{
	Noun:         "import",
	ExternalText: db.NoExternalText,
	Refs:         []db.Ref{db.RefTo("actor_id", "", db.Keeps)},
	Unexported:   []string{"actor_id"},
})

// A chunk is a number of rows that wait to be imported.
var _ = db.Declare("import_chunks", db.Life{
	Parent:        db.RefTo("import_id", "imports"),
	StorageColumn: "size_bytes",
})

// Operations lists everything that can be done with imports.
func (s *Service) Operations() []*op.Op {
	names := []string{"contacts", "customers"}
	return []*op.Op{
		op.Read(op.Spec{
			Name:           "imports.list",
			NounWords:      "upload, csv, vcard, old list, spreadsheet, excel, outlook",
			Route:          "GET /v1/imports",
			Resource:       "contacts",
			AnyOfResources: names,
			Summary:        "List imports, newest first.",
			Example:        `{"status": ["running"]}`,
		}, listImports),
		op.Bytes(op.Spec{
			Name:           "imports.create",
			Route:          "POST /v1/imports",
			Doors:          op.RESTDoor | op.ConsoleDoor,
			Resource:       "contacts",
			AnyOfResources: names,
			Status:         202,
			MayFinishNow:   true,
			Summary:        "Import contacts or customers from a CSV or vCard file.",
			Description: "A record changes what has its externalId or, of a contact, one of its emails, and else " +
				"creates. Fields that are changed are those that the file has a value for; tags are added; emails, " +
				"numbers and addresses are for new contacts. Without mapping, columns are known by their headings. A " +
				"record that is wrong is named in errors, and the others are imported. A dry run stores nothing, and " +
				"answers 200 with what each line would do, 1,000 at a time: linesAction and linesOffset say which.",
			Errors: []*fault.Kind{Unreadable, TooManyImports, file.LimitReached},
			Events: []string{"import.created"},
			Example: `{"file": "contacts.csv", "objectType": "contacts", "mapping": "{\"E-Mail\": \"email\"}", ` +
				`"dryRun": true}`,
		}, s.createImport),
		op.GetRow(op.Spec{
			Name:           "imports.get",
			Words:          "finish, ready, how far",
			Resource:       "contacts",
			AnyOfResources: names,
			Summary:        "Get an import, with its progress.",
			Description:    "The events of what it changes have its id as requestId.",
		}, imports, permitReadingImport),
	}
}

// Happenings are the events that the job emits, without an operation.
var Happenings = []op.BackgroundEvent{
	{Type: "import.succeeded", Resource: "contacts", When: "an import has worked on the last record of its file"},
	{Type: "import.failed", Resource: "contacts", When: "an import ends before its time; errorMessage says why"},
}

// The refusals.
var (
	Unreadable = fault.DefineKind("IMPORT_FILE_INVALID", 422,
		"The file is neither CSV with a line of headings nor vCard.")
	TooManyImports = fault.DefineKind("IMPORT_LIMIT_REACHED", 409,
		"Three imports of the organization wait or run. Wait for one to end.")
)

type importList struct {
	op.Browse
	SortBy     string   `query:"sortBy" default:"createdAt" enum:"createdAt,updatedAt"`
	Status     []Status `query:"status" enum:"receiving,queued,running,succeeded,failed"`
	ObjectType []string `query:"objectType" enum:"contacts,customers"`
}

// listImports lists the imports of the kinds that the caller may read.
func listImports(ctx context.Context, c *op.Call, in importList) (*op.List[Import], error) {
	w := db.InOrganization(c.Org)
	db.FilterChoice(w, "status", in.Status, Succeeded)
	db.FilterChoice(w, "object_type", in.ObjectType, "contacts")
	var seen []string
	for name := range nouns {
		if c.RequirePermission(name, op.ActionRead, "It") == nil {
			seen = append(seen, name)
		}
	}
	if len(seen) < len(nouns) {
		db.FilterChoice(w, "object_type", seen, "")
	}
	list, err := op.BrowseRows(ctx, c, imports, op.ListQuery{Browse: in.Browse, SortBy: in.SortBy}, w)
	if err != nil {
		return nil, err
	}
	for i := range list.Data {
		v := &list.Data[i]
		v.Errors = v.Errors[:min(len(v.Errors), 10)]
	}
	return list, nil
}

func permitReadingImport(_ context.Context, c *op.Call, v *Import) error {
	return c.RequirePermission(v.ObjectType, op.ActionRead, "An import of "+v.ObjectType)
}
