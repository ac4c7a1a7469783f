package desk

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// What is done to many rows is a series of single operations, a part at a time: a request works on at most bulkPart
// rows, which its form names. For all rows of a filter the page that answers has the next part in a form of its own,
// which a script sends by itself and a person sends with its button. The form's token makes each part happen once, and
// the place in the list (a cursor, in the order of creation) makes each row come up once, though the change may take it
// out of the filter. All parts have one request id, so they are undone together.

const (
	bulkPart     = 100 // rows that one request works on
	maxBulk      = 100 // rows that can be chosen one by one
	countedParts = 20  // how far the rows of a filter are counted
	namedRows    = 20  // refused rows that are named; the others are counted
	deleteRows   = "delete"

	// undoneTogether is how long the parts of a series belong together: an undo looks for the events of a request so
	// long after it began.
	undoneTogether = time.Hour
)

// bulkRun is a series under way, as its form holds it.
type bulkRun struct {
	Path, Many string
	Do, Text   string
	Back       string // the list that it was started from
	Run        id.ID  // the request id of all parts
	IDs        []id.ID
	Events     []id.ID // of what this part changed, for those who cannot undo a request
	Cursor     string  // where the list goes on; empty when this part is the last
	Total      string  // "312", "more than 2,000"
	Most       int     // for the progress; 0 when it is not known
	Done       int
	Unchanged  int
	Refused    int
	Named      []refusedRow
	Sentence   string // "Tag 312 contacts"
	Lead       string // what to know before it begins
	Button     string
	Away       bool
	Started    bool
}

// Seen is how many rows have had their turn.
func (r *bulkRun) Seen() int { return r.Done + r.Unchanged + r.Refused }

// Progress says how far it is.
func (r *bulkRun) Progress() string {
	text := thousands(r.Seen()) + " of " + r.Total + "."
	if r.Refused > 0 {
		text += " " + thousands(r.Refused) + " stay as they are; you will see which."
	}
	return text
}

// Unnamed is how many refused rows are not named.
func (r *bulkRun) Unnamed() int { return r.Refused - len(r.Named) }

// refusedRow is a row that stays as it is, and why.
type refusedRow struct{ ID, Name, Why string }

// bulkButtons are what can be done to rows that are chosen.
func (n *Noun[T]) bulkButtons(v *Visit) (out []bulkButton) {
	for _, b := range n.Bulk {
		if !v.May(cmp.Or(b.Op, n.ops()+".update")) {
			continue
		}
		button := bulkButton{Key: b.Key, Word: b.Word, Icon: b.Icon, Ask: b.Ask}
		if b.Options != nil {
			button.Options = b.Options(v)
		}
		out = append(out, button)
	}
	return out
}

// BulkOf is what can be done to the chosen rows of a list with a page of its own, for the template "selection"; nil for
// nothing.
func (v *Visit) BulkOf(path string) any {
	if buttons := v.noun(path).bulkButtons(v); len(buttons) > 0 {
		return buttons
	}
	return nil
}

// bulk changes or deletes the chosen rows, each by its own operation, or begins with all rows of a filter.
func (n *Noun[T]) bulk(v *Visit) error {
	r := n.readRun(v)
	action, ok := n.bulkAction(r.Do)
	if !ok {
		return fault.NotFound.New()
	}
	if v.Value("all") != "" && r.Run == "" {
		return n.askAll(v, r, action)
	}
	if len(r.IDs) == 0 && r.Seen() == 0 {
		return v.Done(r.Back, "nothing", nil)
	}
	if r.Run == "" {
		r.Run = id.ID(v.ID)
	} else {
		v.ID = string(r.Run)
	}
	for i, ref := range r.IDs {
		v.writes = i // a form that is sent twice names the same key for a row, whatever became of the others
		if err := n.bulkOne(v, r, ref, action); err != nil {
			return err
		}
	}
	if r.Cursor != "" {
		if err := n.nextPart(v, r); err != nil {
			return err
		}
		return v.Show(http.StatusOK, "bulk-going", View{Title: r.Sentence, Section: n.rail(), Data: r})
	}
	return n.finishBulk(v, r, action)
}

// bulkAction finds what is to be done; nil and true to delete.
func (n *Noun[T]) bulkAction(key string) (*Bulk[T], bool) {
	i := slices.IndexFunc(n.Bulk, func(b Bulk[T]) bool { return b.Key == key })
	if i < 0 {
		return nil, key == deleteRows
	}
	return &n.Bulk[i], true
}

// readRun reads the form.
func (n *Noun[T]) readRun(v *Visit) *bulkRun {
	number := func(name string) int { i, _ := strconv.Atoi(v.Value(name)); return max(0, i) }
	r := &bulkRun{Path: n.Path, Many: n.Many, Do: v.Value("do"), Back: v.Back("/" + n.Path), Cursor: v.Value("cursor"),
		Total: v.Value("total"), Most: number("most"), Done: number("done"),
		Unchanged: number("unchanged"), Refused: number("refused"), Started: true,
		Sentence: v.Value("sentence"), Away: v.Value("do") == deleteRows}
	r.Text = v.Value("text-" + r.Do)
	for _, b := range n.Bulk { // a choice is a button of its own
		if text := v.Value("set-" + b.Key); text != "" {
			r.Do, r.Text = b.Key, text
		}
	}
	if run, ok := id.Parse(v.Value("run")); ok {
		if began, timed := run.Time(); timed && v.Now().Std().Sub(began) < undoneTogether {
			r.Run = run
		}
	}
	for _, text := range v.R.PostForm["id"] {
		if ref, ok := id.Parse(text); ok && len(r.IDs) < maxBulk && !slices.Contains(r.IDs, ref) {
			r.IDs = append(r.IDs, ref)
		}
	}
	names, why := v.R.PostForm["refused-id"], v.R.PostForm["refused-why"]
	for i := range min(len(names), len(why), namedRows) {
		r.Named = append(r.Named, refusedRow{ID: names[i], Why: why[i]})
	}
	return r
}

// askAll says what will happen to how many rows, before it begins.
func (n *Noun[T]) askAll(v *Visit, r *bulkRun, action *Bulk[T]) error {
	r.Run, r.Cursor, r.Started, r.IDs = id.NewRequestID(), "first", false, nil
	count, more := 0, *r
	for range countedParts {
		if err := n.nextPart(v, &more); err != nil {
			return v.Explain(err, n.rail(), r.Back)
		}
		count += len(more.IDs)
		if more.Cursor == "" {
			break
		}
	}
	if count == 0 {
		return v.Done(r.Back, "nothing", nil)
	}
	r.Most, r.Total = count, thousands(count)+" "+n.Many
	if count == 1 {
		r.Total = "1 " + n.One
	}
	if more.Cursor != "" {
		r.Most, r.Total = 0, "more than "+thousands(count)+" "+n.Many
	}
	r.Button, r.Sentence = "Delete them", "Delete "+r.Total
	r.Lead = "That is every row of the list as it is filtered, not only of this page."
	switch {
	case action == nil && v.Catalog.Named(n.ops()+".restore") == nil:
		r.Lead += " This cannot be undone."
	case v.May("undo.create"):
		r.Lead += " You can undo it right after."
	}
	if action != nil {
		r.Button, r.Sentence = action.Word, action.Word+": "+r.Total
		if word := OptionText(n.options(v, action), r.Text); r.Text != "" {
			r.Sentence = action.Word + " “" + word + "”: " + r.Total
		}
	}
	if err := n.nextPart(v, r); err != nil {
		return err
	}
	return v.Show(http.StatusOK, "bulk-going", View{Title: r.Sentence + "?", Section: n.rail(), Data: r})
}

func (n *Noun[T]) options(v *Visit, action *Bulk[T]) []Option {
	if action.Options == nil {
		return nil
	}
	return action.Options(v)
}

// nextPart finds the rows that come next, and where the list goes on after them. Rows that were made since the series
// began are left alone.
func (n *Noun[T]) nextPart(v *Visit, r *bulkRun) error {
	u, err := url.Parse(r.Back)
	if err != nil {
		return err
	}
	in := n.listInput(v, u.Query())
	in["limit"], in["cursor"], in["sortOrder"] = bulkPart, r.Cursor, "asc"
	delete(in, "sortBy")
	if began, ok := r.Run.Time(); ok {
		if before, ok := in["createdBefore"].(string); !ok || before > clock.FromStd(began).String() {
			in["createdBefore"] = clock.FromStd(began).String()
		}
	}
	rows, next, err := v.rowsAfter(n.ops()+".list", in)
	r.IDs, r.Cursor = rows, next
	return err
}

// bulkOne does it to one row. What is refused is counted and named, and the others go on.
func (n *Noun[T]) bulkOne(v *Visit, r *bulkRun, ref id.ID, action *Bulk[T]) error {
	changed, err := n.changeRow(v, r, ref, action)
	var refusal *fault.Fault
	switch {
	case err == nil && changed:
		r.Done++
		if !v.May("undo.create") && len(r.Events) < maxBulk { // then each change is undone by its own event
			e, err := v.lastEvent(ref)
			if err != nil || e == "" {
				return err
			}
			r.Events = append(r.Events, e)
		}
	case err == nil, fault.IsKind(err, fault.NotFound): // as it should be, or somebody else was faster
		r.Unchanged++
	case errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError:
		r.Refused++
		if len(r.Named) < namedRows {
			r.Named = append(r.Named, refusedRow{ID: string(ref), Why: refusalText(err)})
		}
	default:
		return err
	}
	return nil
}

// changeRow changes or deletes a row, and reports whether there was anything to do.
func (n *Noun[T]) changeRow(v *Visit, r *bulkRun, ref id.ID, action *Bulk[T]) (changed bool, err error) {
	if action == nil {
		return true, v.Do(n.ops()+".delete", Fields{"id": ref}, nil)
	}
	var current T
	if err := v.Do(n.ops()+".get", Fields{"id": ref}, &current); err != nil {
		return false, err
	}
	change := action.Change(&current, r.Text)
	if change == nil {
		return false, nil
	}
	change["id"] = ref
	err = v.Do(cmp.Or(action.Op, n.ops()+".update"), change, nil)
	if action.Already != nil && fault.IsKind(err, action.Already) {
		return false, nil
	}
	return err == nil, err
}

// refusalText is a refusal in words.
func refusalText(err error) string {
	whole, fields, _, _ := Refused(err)
	for name, text := range fields {
		whole = cmp.Or(whole, Capital(spaced(name))+": "+text)
	}
	return whole
}

// finishBulk goes back to the list, or shows which rows stay as they are and why.
func (n *Noun[T]) finishBulk(v *Visit, r *bulkRun, action *Bulk[T]) error {
	word := "deleted"
	if action != nil {
		word = action.Done
	}
	more := []string{"n", strconv.Itoa(r.Done)}
	if r.Refused == 0 {
		if r.Done == 0 {
			word = "unchanged"
		}
		return v.Done(r.Back, word, r.undoMarks(v), more...)
	}
	var ids []id.ID
	for _, row := range r.Named {
		if ref, ok := id.Parse(row.ID); ok {
			ids = append(ids, ref)
		}
	}
	names, err := v.Names(n.Path, ids)
	if err != nil {
		return err
	}
	for i, row := range r.Named {
		r.Named[i].Name = cmp.Or(names[id.ID(row.ID)], "(no name)")
	}
	view := View{Title: Count(r.Refused, n.One, n.Many) + " stayed as they were", Section: n.rail(), Data: r}
	if r.Refused == 1 {
		view.Title = "1 " + n.One + " stayed as it was"
	}
	if r.Done > 0 {
		view.Done, view.Undo = doneSentence(word, r.Done), r.undoMarks(v)
	}
	return v.Show(http.StatusOK, "bulk-refused", view)
}

// undoMarks are what Undo takes back: all of the run, or the events where the visitor may undo only those.
func (r *bulkRun) undoMarks(v *Visit) (marks []string) {
	if r.Done > 0 && v.May("undo.create") {
		return []string{requestMark + string(r.Run)}
	}
	for _, e := range r.Events {
		marks = append(marks, string(e))
	}
	return marks
}

// MaySet is the bulk action that gives rows one of the values of a field.
func MaySet[T Row](operation, field, word, icon string) Bulk[T] {
	return Bulk[T]{Key: field, Word: word, Icon: icon, Ask: word, Done: "changed",
		Options: func(v *Visit) (out []Option) {
			if s := v.property(operation, field); s != nil {
				for _, e := range s.Enum {
					if text, ok := e.(string); ok {
						out = append(out, Option{text, Capital(choice(text, nil))})
					}
				}
			}
			return out
		},
		Change: func(_ *T, text string) Fields {
			if text == "" {
				return nil
			}
			return Fields{field: text}
		}}
}

// Members are the people of the organization, to choose from.
func Members(v *Visit) []Option { return v.choices("members") }

var _ = AddDoneTexts(map[string]string{"unchanged": "They are like that already."})
