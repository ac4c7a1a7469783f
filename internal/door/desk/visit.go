package desk

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/locale"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/business"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Visit is one request: who asks, and where the answer goes.
type Visit struct {
	*Desk
	W       http.ResponseWriter
	R       *http.Request
	ID      string           // the request's
	Token   string           // the session's
	Session *account.Session // nil when nobody is signed in
	Caller  *op.Caller
	// FormTargets is where forms may lead besides this site, as form-action takes it.
	FormTargets string
	// PagePath is the address of the page shown, when a form led to it.
	PagePath string

	house  *business.Business // the business that pages speak for, once it was asked for
	firms  []business.Business
	format *locale.Format
	zone   *time.Location
	now    clock.Time
	names  map[id.ID]Who // of actors, once they were asked for
	team   []account.Colleague
	coin   string // the currency of the object that the page is about
	once   string // the operation that the form's key stands for
	writes int    // how many operations the form has run
}

// Fields is the input of an operation.
type Fields map[string]any

// Run runs an operation for the visitor and returns its JSON answer.
func (v *Visit) Run(operation string, input Fields) ([]byte, error) {
	o := v.Catalog.Named(operation)
	if o == nil {
		return nil, fault.NotFound.Say("There is no operation %s.", operation)
	}
	caller := v.Caller
	if caller == nil {
		caller = &op.Caller{Kind: op.UserActor} // nobody yet: only public operations let them in
	}
	q := op.Request{Caller: caller, Door: op.ConsoleDoor, ID: v.ID,
		Body: func() ([]byte, error) { return json.Marshal(input) }}
	if o.KeyRequired || operation == v.once {
		// A form that is sent twice by mistake names the same key.
		q.Key, q.HasKey = v.R.FormValue("key"), true
	} else if !o.ReadOnly() && !strings.HasPrefix(operation, "drafts.") {
		// Not for drafts: one may be begun again before its form is sent again.
		q.Key = v.onceKey()
		q.HasKey = q.Key != ""
	}
	answer, err := v.doOnce(o, q)
	return answer.Body, err
}

// Do runs an operation and reads its data into out, which may be nil.
func (v *Visit) Do(operation string, input Fields, out any) error {
	body, err := v.Run(operation, input)
	if err != nil || out == nil || body == nil {
		return err
	}
	return readData(body, out)
}

func readData(body []byte, out any) error {
	return json.Unmarshal(body, &struct {
		Data any `json:"data"`
	}{out})
}

// Step is one of several operations that run together.
type Step struct {
	Operation string
	Input     func() Fields // asked for when the steps before it have been answered
	Out       any           // what the data of its answer is read into; nil for nothing
}

// Together runs operations in one transaction: all happen, or none does.
func (v *Visit) Together(steps ...Step) error {
	return v.Runner.RunSeries(v.R.Context(), v.series(steps))
}

// Rehearse runs operations together and takes all of it back: their answers say what
// would happen.
func (v *Visit) Rehearse(steps ...Step) error {
	return v.Runner.RehearseSeries(v.R.Context(), v.series(steps))
}

func (v *Visit) series(steps []Step) *op.Series {
	s := &op.Series{Caller: v.Caller, Door: op.ConsoleDoor, RequestID: v.ID,
		Answered: func(n int, a op.Answer, _ *db.Trace) error {
			if steps[n].Out == nil {
				return nil
			}
			return readData(a.Body, steps[n].Out)
		}}
	for _, step := range steps {
		s.Steps = append(s.Steps, op.SeriesStep{Op: v.Catalog.Named(step.Operation),
			Input: func() ([]byte, error) { return json.Marshal(step.Input()) }})
	}
	return s
}

// InOrder runs operations one after the other, each once for a form that is sent twice, where
// they cannot run together. All are rehearsed first, so that a refusal of a later one leaves
// nothing half done. Only the first is tried though its rehearsal was refused: it may be
// the form's own first press that stands in its way, and then it answers as it did before.
func (v *Visit) InOrder(steps ...Step) error {
	var refused *op.StepError
	if err := v.Rehearse(steps...); err != nil && (!errors.As(err, &refused) || refused.Step > 0) {
		return err
	}
	for _, s := range steps {
		if err := v.Do(s.Operation, s.Input(), s.Out); err != nil {
			return err
		}
	}
	return nil
}

// Page is where a page of a list is.
type Page struct {
	Limit, Offset int
	HasMore       bool
	Total         *int
}

// rowsAfter are the ids of the rows of a page that is read with a cursor, and the cursor of the next one; empty at the
// end.
func (v *Visit) rowsAfter(operation string, input Fields) (rows []id.ID, next string, err error) {
	body, err := v.Run(operation, input)
	if err != nil {
		return nil, "", err
	}
	var page struct {
		Data []struct {
			ID id.ID `json:"id"`
		} `json:"data"`
		Meta struct {
			Pagination struct {
				NextCursor string `json:"nextCursor"`
			} `json:"pagination"`
		} `json:"meta"`
	}
	err = json.Unmarshal(body, &page)
	for _, row := range page.Data {
		rows = append(rows, row.ID)
	}
	return rows, page.Meta.Pagination.NextCursor, err
}

// List lists rows and says where they are.
func List[T any](v *Visit, operation string, input Fields) ([]T, Page, error) {
	body, err := v.Run(operation, input)
	if err != nil {
		return nil, Page{}, err
	}
	var page struct {
		Data []T `json:"data"`
		Meta struct {
			Pagination op.Pagination `json:"pagination"`
		} `json:"meta"`
	}
	err = json.Unmarshal(body, &page)
	p := page.Meta.Pagination
	return page.Data, Page{p.Limit, p.Offset, p.HasMore, p.Total}, err
}

// May reports whether the visitor may run an operation.
func (v *Visit) May(operation string) bool { return v.Permit(operation) == nil }

// Permit refuses a visitor who may not run an operation.
func (v *Visit) Permit(operation string) error {
	o := v.Catalog.Named(operation)
	if o == nil {
		return fault.NotFound.New()
	}
	return o.PermitCaller(v.Caller, op.ConsoleDoor)
}

// Bytes answers with a file: to be saved, or to be shown in a frame of this site
// that runs nothing.
func (v *Visit) Bytes(operation string, path []string, inline bool) error {
	return v.serve(operation, path, nil, inline)
}

// Document shows a file that an operation makes of what the address asks for. What is empty there is left out.
func (v *Visit) Document(operation string, path ...string) error {
	asked := v.R.URL.Query()
	maps.DeleteFunc(asked, func(_ string, texts []string) bool { return texts[0] == "" })
	return v.serve(operation, path, asked, true)
}

// Export answers with what a list shows, as a file to be saved. q is the address
// of the list; what the operation does not know is left out.
func (v *Visit) Export(operation string, q url.Values) error {
	asked := url.Values{}
	for name, texts := range q {
		if o := v.Catalog.Named(operation); o != nil && o.HasQueryField(name) && len(texts) > 0 && texts[0] != "" &&
			name != op.ViewField { // the address spells out its filters
			asked[name] = texts
			p := v.property(strings.TrimSuffix(operation, ".export")+".list", name)
			if p != nil && p.Format == "date-time" { // a day is typed in the business's own time
				if at, issue := v.ReadTime(texts[0]); issue == "" {
					asked[name] = []string{at.(string)}
				}
			}
		}
	}
	switch b := v.chosen(); {
	case asked.Get(businessFilter) == everyBusiness:
		asked.Del(businessFilter)
	case b != nil && !asked.Has(businessFilter) && v.Catalog.Named(operation).HasQueryField(businessFilter):
		asked.Set(businessFilter, string(b.ID))
	}
	return v.serve(operation, nil, asked, false)
}

func (v *Visit) serve(operation string, path []string, query url.Values, inline bool) error {
	content, err := v.open(operation, path, query)
	if err != nil {
		return err
	}
	if content.ReadSeekCloser != nil {
		defer content.Close()
	}
	v.fileHeaders(content.Type, content.Name, inline)
	h := v.W.Header()
	if content.ETag != "" {
		h.Set("ETag", content.ETag)
	}
	if content.Write == nil {
		content.Serve(v.W, v.R, content)
		return nil
	}
	http.NewResponseController(v.W).SetWriteDeadline(time.Time{}) //nolint:errcheck // a test has no connection
	if err := content.Write(v.R.Context(), v.W); err != nil {
		v.Log.WarnContext(v.R.Context(), "an export was cut off", "trace_id", v.ID, "err", err)
		panic(http.ErrAbortHandler) // the reader must not mistake the part for the whole
	}
	return nil
}

// fileHeaders say what a file is, and that it runs nothing.
func (v *Visit) fileHeaders(contentType, name string, inline bool) {
	h := v.W.Header()
	h.Set("Content-Type", contentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "private, no-cache")
	kind := "attachment"
	if inline && Showable(contentType) {
		kind = "inline"
	}
	policy := "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'self'"
	if contentType == "application/pdf" { // the browser's own viewer is a plugin and works in no sandbox
		policy = "frame-ancestors 'self'"
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Content-Disposition", disposition(kind, name))
}

// Content answers with a file that no operation streams, shown where a browser
// can.
func (v *Visit) Content(contentType, name string, content io.ReadSeeker) error {
	v.fileHeaders(contentType, name, true)
	http.ServeContent(v.W, v.R, "", time.Time{}, content)
	return nil
}

// SaveContent answers with a file that no operation streams, to be saved.
func (v *Visit) SaveContent(contentType, name string, content io.ReadSeeker) error {
	v.fileHeaders(contentType, name, false)
	http.ServeContent(v.W, v.R, "", time.Time{}, content)
	return nil
}

// Open is what an operation answers with as bytes, to be closed by the caller.
func (v *Visit) Open(operation string, path ...string) (*op.Content, error) {
	content, err := v.open(operation, path, nil)
	if err == nil && content.ReadSeekCloser == nil {
		return nil, fault.NotFound.New()
	}
	return content, err
}

func (v *Visit) open(operation string, path []string, query url.Values) (*op.Content, error) {
	o := v.Catalog.Named(operation)
	if o == nil {
		return nil, fault.NotFound.New()
	}
	answer, err := v.Runner.Do(v.R.Context(), o,
		op.Request{Caller: v.Caller, Door: op.ConsoleDoor, ID: v.ID, Path: path, Query: query,
			Stream: &op.Stream{Reader: strings.NewReader(""), Head: v.R.Method == http.MethodHead}})
	if err != nil {
		return nil, err
	}
	if answer.Content == nil {
		return nil, fault.NotFound.New()
	}
	return answer.Content, nil
}

// Upload hands the request's body to an operation that takes a stream.
func (v *Visit) Upload(operation string, body io.Reader, out any) error {
	return v.send(operation, v.R.Header.Get("Content-Type"), v.R.ContentLength, body, out)
}

func (v *Visit) send(operation, contentType string, length int64, body io.Reader, out any) error {
	o := v.Catalog.Named(operation)
	if o == nil {
		return fault.NotFound.New()
	}
	answer, err := v.Runner.Do(v.R.Context(), o, op.Request{Caller: v.Caller, Door: op.ConsoleDoor, ID: v.ID,
		Stream: &op.Stream{Reader: &deadlineReader{body, http.NewResponseController(v.W)},
			ContentType: contentType, Length: length}})
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(answer.Body, &struct {
		Data any `json:"data"`
	}{out})
}

// deadlineReader gives an upload as long as it makes progress.
type deadlineReader struct {
	io.Reader
	control *http.ResponseController
}

func (p *deadlineReader) Read(b []byte) (int, error) {
	p.control.SetReadDeadline(time.Now().Add(time.Minute))      //nolint:errcheck // a test has no connection
	p.control.SetWriteDeadline(time.Now().Add(3 * time.Minute)) //nolint:errcheck // as above
	return p.Reader.Read(b)
}

// PathID reads an id from the path. What is not an id is not found.
func (v *Visit) PathID(name string) (id.ID, error) {
	ref, ok := id.Parse(v.R.PathValue(name))
	if !ok {
		return "", fault.NotFound.New()
	}
	return ref, nil
}

// Value is a posted field, without the spaces around it.
func (v *Visit) Value(name string) string { return strings.TrimSpace(v.R.PostFormValue(name)) }

// Currency is that of the object that the page is about, or the business's.
func (v *Visit) Currency() string {
	if v.coin != "" {
		return v.coin
	}
	return v.CurrentBusiness().Currency
}

func (v *Visit) formats() (*locale.Format, *time.Location) {
	if v.format == nil {
		b := v.CurrentBusiness()
		v.format, v.zone = locale.New(b.Locale, b.Timezone), time.UTC
		if zone, err := time.LoadLocation(b.Timezone); err == nil {
			v.zone = zone
		}
	}
	return v.format, v.zone
}

// Now is the time of the visit.
func (v *Visit) Now() clock.Time {
	if v.now == 0 {
		v.now = v.Runner.Clock.Now()
	}
	return v.now
}

// Zone is where the business keeps its clock.
func (v *Visit) Zone() *time.Location { _, zone := v.formats(); return zone }

// Redirect sends the browser to a path on this site.
func (v *Visit) Redirect(path string) error {
	SetHeaders(v.W, v.FormTargets)
	v.dropDraft()
	http.Redirect(v.W, v.R, path, http.StatusSeeOther)
	return nil
}

// saidOnce are the parts of an address that say what was just done, or what is being edited.
var saidOnce = []string{"done", "undo", "n", "edit", "add"}

// Done redirects to a page, which then says what happened. undo names what can be undone:
// events, or what a room has marked (AddUndo); more are pairs of name and value for the
// address.
func (v *Visit) Done(path, what string, undo []string, more ...string) error {
	u, err := url.Parse(path)
	if err != nil {
		return err
	}
	q := u.Query()
	for _, name := range saidOnce {
		q.Del(name)
	}
	q.Set("done", what)
	for _, e := range undo {
		q.Add("undo", e)
	}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	u.RawQuery = q.Encode()
	return v.Redirect(u.String())
}

// Back is the page that a form was sent from, as the form names it, or another.
func (v *Visit) Back(other string) string {
	if back := v.R.PostFormValue("back"); IsLocalPath(back) {
		return back
	}
	return other
}

// With is the address of this page with some values changed, given in pairs. A
// value that is empty goes. What was just done is said only once, so it goes too.
func (v *Visit) With(pairs ...string) string {
	q := v.R.URL.Query()
	for _, name := range saidOnce {
		q.Del(name)
	}
	for i := 0; i < len(pairs); i += 2 {
		q.Del(pairs[i])
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return address(cmp.Or(v.PagePath, v.R.URL.Path), q)
}

func address(path string, q url.Values) string {
	u := url.URL{Path: path, RawQuery: q.Encode()}
	return u.String()
}

// Showable reports whether a browser may show a file of a type in a frame.
func Showable(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf",
		"text/plain", "text/csv"}, kind)
}

// Country is the name of a country in the business's language.
func (v *Visit) Country(code string) string {
	f, _ := v.formats()
	return f.CountryName(code)
}

// Later is a time some days from now, as the API takes it.
func (v *Visit) Later(days int) string {
	return v.Now().Add(time.Duration(days) * 24 * time.Hour).String()
}

// Decode reads the data of an event, which may be gone.
func (v *Visit) Decode(data []byte, out any) bool {
	return len(data) > 0 && json.Unmarshal(data, out) == nil
}

// Pretty indents JSON.
func (v *Visit) Pretty(data []byte) string {
	value := jsontext.Value(slices.Clone(data))
	if len(data) == 0 || value.Indent(jsontext.WithIndent("  ")) != nil {
		return ""
	}
	return string(value)
}
