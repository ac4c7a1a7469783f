package transfer

import (
	"cmp"
	"context"
	"slices"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/contact"
	"frontdesk/internal/resource/customer"

	"github.com/go-json-experiment/json/jsontext"
)

// rehearsal is a dry run: it says what each row would do, without doing it.
type rehearsal struct {
	*Import
	service *Service
	call    *op.Call
	reader  *recordReader
	refused refusedLines
	window  lineWindow
}

// rehearseImport says what each row would do, without doing it.
func (s *Service) rehearseImport(ctx context.Context, c *op.Call, v *Import, r *recordReader, in *importCreate) error {
	h := &rehearsal{Import: v, service: s, call: c, reader: r, refused: refusedLines{},
		window: lineWindow{action: in.LinesAction, skip: in.LinesOffset, lines: []Line{}}}
	err := eachChunk(v, r, h.fail, func(rows []row) error { return h.rehearseChunk(ctx, rows) })
	h.window.endChunk() // what could not be read at the end
	c.MarkFinishedNow()
	v.DryRun, v.Status, v.Lines, v.CompletedAt = true, Succeeded, &h.window.lines, &c.Now
	if r.columns != nil {
		v.Columns = &r.columns
	}
	return err
}

func (h *rehearsal) rehearseChunk(ctx context.Context, rows []row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p, err := h.service.prepareRows(ctx, h.call, h.ObjectType, rows)
	if err != nil {
		return err
	}
	current, err := h.loadMatches(ctx, p)
	if err != nil {
		return err
	}
	for i := range p.rows {
		if err := h.rehearseRow(p, i, &rows[i], current); err != nil {
			return err
		}
	}
	h.window.endChunk()
	return nil
}

// rehearseRow counts what a row would do, and notes it.
func (h *rehearsal) rehearseRow(p *preparedChunk, i int, r *row, current map[id.ID]jsontext.Value) error {
	err := p.rowIssue(i)
	if again := h.refused.repeatIssue(r); err == nil && again != nil {
		h.fail(*again)
		return nil
	}
	switch {
	case err != nil && fault.FromError(err).Status >= 500:
		return err
	case err != nil:
		h.fail(issueOfError(r, err))
		return nil
	case p.found[i] == nil:
		h.Counts.Created++
		h.window.add(Line{Line: r.Line, Action: "create"}, func() []Value { return valuesOf(r.Row, nil) })
	default:
		text, err := p.found[i].toUpdate(r.Row)
		if err != nil {
			return err
		}
		l := Line{Line: r.Line, Action: "unchanged", ID: &p.found[i].ID}
		values := valuesOf(text, current[p.found[i].ID])
		if slices.ContainsFunc(values, func(x Value) bool { return x.Changes() }) {
			l.Action = "update"
			h.Counts.Updated++
		} else {
			h.Counts.Unchanged++
		}
		h.window.add(l, func() []Value { return values })
	}
	h.Counts.Processed++
	return nil
}

// fail notes a record that would be refused.
func (h *rehearsal) fail(i Issue) {
	h.addFailure(i)
	h.refused[i.Line] = true
	h.reader.countRefused(i.Field)
	h.window.add(Line{Line: i.Line, Action: "fail"}, func() []Value { return i.Values })
}

// loadMatches loads the records that the rows of a chunk would change, as they are now.
func (h *rehearsal) loadMatches(ctx context.Context, p *preparedChunk) (out map[id.ID]jsontext.Value, err error) {
	var ids []id.ID
	for _, m := range p.found {
		if m != nil {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	load := contact.LoadAsJSON
	if h.ObjectType == "customers" {
		load = customer.LoadAsJSON
	}
	err = h.call.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
		out, err = load(ctx, tx, h.call.Org, ids)
		return err
	})
	return out, err
}

// lineWindow collects the lines that a dry run answers with: those that do one thing, from an
// offset on, by their number. Lines come in order of their chunks, and within a chunk in any order.
type lineWindow struct {
	action *string
	skip   int
	chunk  []noted
	lines  []Line
}

type noted struct {
	Line
	values func() []Value
}

func (w *lineWindow) add(l Line, values func() []Value) {
	if w.action == nil || *w.action == l.Action {
		w.chunk = append(w.chunk, noted{l, values})
	}
}

// endChunk takes over the lines of a chunk that is complete.
func (w *lineWindow) endChunk() {
	slices.SortStableFunc(w.chunk, func(a, b noted) int { return cmp.Compare(a.Line.Line, b.Line.Line) })
	for _, l := range w.chunk {
		switch {
		case w.skip > 0:
			w.skip--
		case len(w.lines) < maxIssues:
			l.Values = append([]Value{}, l.values()...)
			w.lines = append(w.lines, l.Line)
		}
	}
	w.chunk = nil
}
