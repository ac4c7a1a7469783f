package mcp

// How an answer becomes what a client gets: short unless the client asks for all of it, and never longer than
// maxAnswer. What is left out is always said, at the end, with the way to get it.

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/event"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/op"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The arguments that every tool takes besides those of its operation. The idempotency key is one of some tools.
const (
	viewArgument = op.ViewParameter
	partArgument = "part" // which part of an answer that is too long
)

// toolCall is one call of a tool, with its arguments taken apart.
type toolCall struct {
	tool      *tool
	arguments []byte // for the operation
	request   op.Request
	full      bool     // the client asks for whole rows
	part      int      // of an answer that is too long; 0 if the client does not say
	notes     []string // what was put right in the arguments
	deleted   *event.Event

	structured bool // the client reads structured content
}

// newToolCall takes a call apart. What it returns is never nil: a refusal is answered to a call, too.
func (d *Door) newToolCall(ctx context.Context, t *tool, q *request, trace string) (*toolCall, error) {
	c := &toolCall{tool: t, structured: q.view.structured}
	if q.in.Arguments.Kind() != 'n' {
		c.arguments = q.in.Arguments
	}
	names := []string{viewArgument, partArgument, keyArgument}
	if !t.op.TakesIdempotencyKey() {
		names = names[:2]
	}
	rest, taken, twice := takeArguments(c.arguments, names...)
	if twice != "" {
		return c, fault.Field(twice, "Given twice")
	}
	c.request = op.Request{Caller: q.login.Caller, Door: op.AgentDoor, ID: trace}
	var err error
	if c.request.Key, c.request.HasKey, err = readString(taken, keyArgument); err != nil {
		return c, err
	}
	if err := c.readView(taken); err != nil {
		return c, err
	}
	if t.op.TakesField(viewArgument) { // it means the same, but the operation wants to know, too
		rest, _, _ = takeArguments(c.arguments, partArgument, keyArgument)
	}
	c.arguments, c.notes, err = t.op.Forgive(rest, d.forgiver(ctx, q.login.Caller))
	if err != nil {
		return c, err
	}
	if t.op.Method == http.MethodDelete {
		c.request.Watch = c.noteDeletion
	}
	c.request.Body = func() ([]byte, error) { return c.arguments, nil }
	return c, nil
}

// forgiver puts the arguments of an agent right.
func (d *Door) forgiver(ctx context.Context, c *op.Caller) op.Forgiver {
	return op.Forgiver{
		Midnight: func(day clock.Date) (clock.Time, string, error) { return d.Midnight(ctx, c, day) },
		OperationOf: func(name string) string {
			if t := d.byName[name]; t != nil {
				return t.op.Name
			}
			return ""
		},
	}
}

// noteDeletion keeps what a call deletes, so that its answer can say it.
func (c *toolCall) noteDeletion(_ context.Context, _ *db.Tx, t *db.Trace) error {
	c.deleted = nil
	for _, entry := range t.Entries {
		if e, ok := entry.(event.Event); ok && slices.Contains(c.tool.op.Events, e.Type) {
			c.deleted = &e
			break
		}
	}
	return nil
}

// describeDeletion is the answer to a call that deleted something, which REST answers with 204: what went, and until
// when it can be brought back.
func (d *Door) describeDeletion(c *toolCall) []byte {
	e := c.deleted
	if e == nil {
		return []byte("{}")
	}
	var row map[string]any
	said := map[string]any{"id": e.ResourceID, "deleted": event.ResourceType(e.Type)}
	if json.Unmarshal(e.Data, &row) == nil {
		if title, _ := op.RowTitle(row); title != "" {
			said["title"] = cut.Ellipsis(title, maxTitle)
		}
	}
	if t := d.byName[strings.TrimSuffix(c.tool.name, "_delete")+"_restore"]; t != nil && d.KeepsDeleted > 0 {
		said["restorableUntil"] = e.At.Add(d.KeepsDeleted)
		if t.isVisibleTo(c.request.Caller) {
			said["restoreWith"] = t.name
		}
	}
	return mustEncode(map[string]any{"data": said})
}

// maxTitle is how many characters of a title are shown.
const maxTitle = 200

// readString reads an argument that is a string.
func readString(taken map[string]jsontext.Value, name string) (text string, has bool, err error) {
	if taken[name] == nil {
		return "", false, nil
	}
	if json.Unmarshal(taken[name], &text) != nil {
		return "", false, fault.Field(name, "Invalid input: expected one string")
	}
	return text, true, nil
}

// readView reads how much of the answer the client wants.
func (c *toolCall) readView(taken map[string]jsontext.Value) error {
	view, has, err := readString(taken, viewArgument)
	if has && err == nil {
		err = op.CheckViewName(view)
	}
	if err != nil && !c.tool.op.TakesField(viewArgument) {
		return err
	}
	c.full = view == op.FullView
	if text := taken[partArgument]; text != nil {
		if c.part, err = strconv.Atoi(string(text)); err != nil || c.part < 1 {
			return refusePart("Invalid input: expected a whole number from 1")
		}
	}
	return nil
}

func refusePart(issue string) error {
	return (*fault.Tree)(nil).At([]any{partArgument}, issue).Fault(fault.BadInput)
}

// shortenAnswer shortens the body of an answer, and reads a list again with fewer rows if it is too long.
func (d *Door) shortenAnswer(ctx context.Context, c *toolCall, a op.Answer) (op.Answer, error) {
	if len(a.Body) == 0 { // 204: done, without content
		a.Body = d.describeDeletion(c)
	}
	body := c.shorten(a)
	if c.notes != nil {
		body = addMember(body, "notes", c.notes)
	}
	if utf8.RuneCount(body) <= maxAnswer && c.part <= 1 {
		a.Body = body
		return a, nil
	}
	if o := c.tool.op; o.AnswersList() && o.ReadOnly() && o.TakesField("limit") && c.part == 0 && isSuccess(a) {
		return d.readFewerRows(ctx, c, a, body)
	}
	part, err := c.cutToPart(body)
	a.Body = part
	return a, err
}

// isSuccess reports whether an answer is what the operation answers when it is not refused.
func isSuccess(a op.Answer) bool { return a.Status < http.StatusBadRequest }

// shorten is the short form of an answer's body, or all of it if the client wants that.
func (c *toolCall) shorten(a op.Answer) []byte {
	switch {
	case c.full || !isSuccess(a):
		return a.Body
	case c.tool.reads:
		return c.tool.op.Shorten(a.Body)
	}
	return c.tool.op.ShortenWrite(a.Body, c.arguments)
}

// readFewerRows answers a list that is too long: it is read again with as many rows as there is room for. So cursor,
// offset and hasMore are those of the rows that are shown, and the rows that are not are the next ones. Of a row that
// is too long by itself, the short form is shown, or its first part.
func (d *Door) readFewerRows(ctx context.Context, c *toolCall, a op.Answer, body []byte) (op.Answer, error) {
	asked, fit := countRows(body)
	rest, _, _ := takeArguments(c.arguments, "limit")
	if len(rest) == 0 {
		rest = []byte("{}")
	}
	q := c.request
	for err := error(nil); ; fit /= 2 {
		fit = max(fit, 1)
		arguments := addMember(rest, "limit", fit)
		q.Body = func() ([]byte, error) { return arguments, nil }
		if a, err = d.Runner.Do(ctx, c.tool.op, q); err != nil {
			return a, err
		}
		body = c.shorten(a)
		cutRow := false
		if fit == 1 && utf8.RuneCount(body) > maxAnswer-maxNote {
			body, cutRow = c.tool.op.Shorten(a.Body), true
			if utf8.RuneCount(body) > maxAnswer-maxNote {
				if body, _, err = writePart(body, 1); err != nil {
					return a, err
				}
			}
		}
		if utf8.RuneCount(body) <= maxAnswer-maxNote { // else there are other rows by now, and longer ones
			a.Body = addMember(body, leftOutMember, describeLeftOut(body, asked, cutRow))
			return a, nil
		}
	}
}

// leftOutMember is the last member of an answer that does not show everything.
const leftOutMember = "leftOut"

// maxNote is room for what is said about rows that are left out.
const maxNote = 2_000

// listBody is what matters of a list's body here.
type listBody struct {
	Data []jsontext.Value `json:"data"`
	Meta struct {
		Pagination struct {
			Offset     int     `json:"offset"`
			NextCursor *string `json:"nextCursor"`
		} `json:"pagination"`
	} `json:"meta"`
}

// countRows counts the rows of a list, and how many of them there is room for.
func countRows(body []byte) (rows, fit int) {
	var list listBody
	if json.Unmarshal(body, &list) != nil {
		return 0, 0
	}
	left := maxAnswer - maxNote
	for _, row := range list.Data {
		if left -= utf8.RuneCount(row) + len(","); left < 0 {
			break
		}
		fit++
	}
	return len(list.Data), fit
}

// describeLeftOut says which rows an answer does not show, and how to get them.
func describeLeftOut(body []byte, asked int, cutRow bool) string {
	var list listBody
	if json.Unmarshal(body, &list) != nil {
		return "Some rows. Ask for fewer with limit."
	}
	n := len(list.Data)
	text := fmt.Sprintf("%d of %d rows are not shown, because an answer has at most %d characters. ", asked-n, asked,
		maxAnswer)
	if asked <= n {
		text = fmt.Sprintf("An answer has at most %d characters. ", maxAnswer)
	}
	if cutRow {
		text += "The row is shown in part; a get with view full, part 1, 2 and so on reads all of it. "
	}
	if at := list.Meta.Pagination; at.NextCursor != nil {
		return text + "The next rows: the same call with cursor nextCursor."
	} else if asked > n {
		return text + fmt.Sprintf("The next rows: the same call with offset %d.", at.Offset+n)
	}
	return text
}

// cutBody is a body that is no list, or its first part if it is too long.
func (c *toolCall) cutBody(body []byte) []byte {
	if utf8.RuneCount(body) <= maxAnswer {
		return body
	}
	first := *c
	first.part = 1
	if part, err := first.cutToPart(body); err == nil {
		return part
	}
	return []byte(`{"error":{"code":"INTERNAL_ERROR","message":"The answer is too long."}}`)
}

// cutToPart is the part of a body that the client asks for, and says which one it is.
func (c *toolCall) cutToPart(body []byte) ([]byte, error) {
	part := max(c.part, 1)
	out, parts, err := writePart(body, part)
	switch {
	case err != nil:
		return nil, err
	case part > parts:
		return nil, refusePart(fmt.Sprintf("The answer has only %d parts now", parts))
	}
	out = addMember(out, partArgument, fmt.Sprintf("%d of %d", part, parts))
	if part == parts {
		return out, nil
	}
	how := fmt.Sprintf("call again with part %d", part+1)
	switch {
	case !c.tool.reads && c.request.HasKey:
		how = "the same call, with the same idempotencyKey and part " + strconv.Itoa(part+1) + ", does nothing again"
	case !c.tool.reads:
		how = "it is done; read the rest with a tool that gets or lists"
	}
	return addMember(out, leftOutMember, fmt.Sprintf("%d more parts, because an answer has at most %d characters: %s.",
		parts-part, maxAnswer, how)), nil
}

// toolResult is the result of a tool. Most clients show their model the text, programs read the object, and both say
// the same. Where a client reads the object, the text is one line.
func toolResult(body []byte, structured bool) result {
	text := string(body)
	if structured {
		text = describeBody(body)
	}
	return result{"content": []any{map[string]string{"type": "text", "text": text}},
		"structuredContent": jsontext.Value(body)}
}

// describeBody is a line about a body.
func describeBody(body []byte) string {
	var v struct {
		Data    jsontext.Value `json:"data"`
		LeftOut string         `json:"leftOut"`
		Error   struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	text := "Done."
	switch err := json.Unmarshal(body, &v); {
	case err != nil:
	case v.Error.Code != "":
		return v.Error.Code + ": " + v.Error.Message
	case v.Data.Kind() == '[':
		var rows []jsontext.Value
		if json.Unmarshal(v.Data, &rows) == nil {
			text = fmt.Sprintf("%d rows.", len(rows))
		}
	}
	if v.LeftOut != "" {
		text += " Left out: " + v.LeftOut
	}
	return string(bytes.ReplaceAll([]byte(text), []byte{'\n'}, []byte{' '})) + " See structuredContent."
}
