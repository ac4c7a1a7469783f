package desk

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/eventlog"

	"github.com/go-json-experiment/json"
)

// The facts of an object are changed in place, one at a time.

// factForm makes a fact a field.
func (n *Noun[T]) factForm(v *Visit, o *object[T], f Field, d *objectData, t *typedIn) (*Form, error) {
	value := inputValue(v, f, o.raw[f.Field])
	in := v.Describe(n.ops()+".update", f, value)
	in.Focus = true
	if f.Ref != "" && in.Pick != "" && value != "" {
		if ref, ok := id.Parse(value); ok {
			names, err := v.Names(f.Ref, []id.ID{ref})
			if err != nil {
				return nil, err
			}
			in.Value = names[ref]
		}
	}
	form := &Form{To: d.Path + "/edit", Back: d.Path, Button: "Save", Fields: []Input{in},
		Hidden: map[string]string{"field": f.Field, "back": d.Back, valueBefore: value}}
	if t != nil {
		form.Fill(t.posted, t.whole, t.wrong)
	}
	return form, nil
}

// InputValue is a value of an operation's input as a form shows it.
func (v *Visit) InputValue(f Field, value any) string { return inputValue(v, f, value) }

// inputValue is a value as an input takes it.
func inputValue(v *Visit, f Field, value any) string {
	switch x := value.(type) {
	case nil:
		return ""
	case bool:
		if x {
			return "yes"
		}
		return ""
	case float64:
		if f.Kind == "money" {
			return Plain(int64(x), v.Currency())
		}
		return strings.TrimSuffix(strings.TrimRight(decimalText(x), "0"), ".")
	case []any:
		words := []string{}
		for _, w := range x {
			if text, ok := w.(string); ok {
				words = append(words, text)
			}
		}
		return strings.Join(words, ", ")
	case string:
		if t, err := clock.ParseTime(x); err == nil && strings.Contains(x, "T") {
			return t.Std().In(v.Zone()).Format("2006-01-02T15:04")
		}
		return x
	}
	return ""
}

func decimalText(x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		return ""
	}
	text := string(b)
	if !strings.Contains(text, ".") {
		text += "."
	}
	return text
}

// edit saves one fact, and can be undone.
func (n *Noun[T]) edit(v *Visit) error {
	o, err := n.get(v)
	if err != nil {
		return err
	}
	name := v.Value("field")
	i := slices.IndexFunc(n.Fields, func(f Field) bool { return f.Field == name })
	if i < 0 {
		return fault.NotFound.New()
	}
	f := n.Fields[i]
	posted := v.R.PostForm
	if !posted.Has(name) && inputKind(v.property(n.ops()+".update", name)) == "box" {
		posted.Set(name, "") // a box that is not ticked is not sent
	}
	in, wrong := v.Read(n.ops()+".update", []Field{f}, posted)
	if kindOf(v.property(n.ops()+".update", name)) == "boolean" {
		in[name] = posted.Get(name) == "yes"
	}
	if len(wrong) > 0 {
		return n.objectPage(v, http.StatusBadRequest, o, &typedIn{at: name, posted: posted, wrong: wrong})
	}
	ref := o.row.RowID()
	to := v.Back("/" + n.Path + "/" + string(ref))
	if now := inputValue(v, f, o.raw[name]); posted.Has(valueBefore) && posted.Get(valueBefore) != now {
		return n.changedMeanwhile(v, o, f, in[name])
	}
	err = v.doToVersion(n.ops()+".update", ref, o.version, in)
	if fault.IsKind(err, fault.VersionMismatch) { // somebody was quicker: look at what they made of it
		return n.edit(v)
	}
	if err != nil {
		whole, fields, status, err := Refused(err)
		if err != nil {
			return err
		}
		return n.objectPage(v, status, o, &typedIn{at: name, posted: posted, whole: whole, wrong: fields})
	}
	return v.DoneWith(to, "saved", ref)
}

// valueBefore is the field of a form with what the fact was when the form was opened.
const valueBefore = "was"

// changedMeanwhile shows what somebody else has written into the fact that the visitor
// was changing. To save once more is to choose one's own.
func (n *Noun[T]) changedMeanwhile(v *Visit, o *object[T], f Field, typed any) error {
	ref := o.row.RowID()
	if inputValue(v, f, jsonValue(typed)) == inputValue(v, f, o.raw[f.Field]) { // both wrote the same
		return v.Done(v.Back("/"+n.Path+"/"+string(ref)), "saved", nil)
	}
	who := "Somebody"
	if rows, _, err := List[eventlog.Event](v, "events.list", Fields{"resourceId": ref, "limit": 1}); err == nil &&
		len(rows) > 0 {
		if name := v.Actor(rows[0].ActorKind, rows[0].ActorID).Name; name != "" {
			who = name
		}
	}
	cell := n.factCell(v, o, f)
	if err := v.resolve([]*Cell{&cell}); err != nil {
		return err
	}
	now := cmp.Or(cell.Text, strings.Join(cell.Tags, ", "), "nothing")
	return n.objectPage(v, http.StatusConflict, o, &typedIn{at: f.Field, posted: v.R.PostForm, whole: who +
		" changed this to “" + now + "” while you were writing. Save to put yours in its place, or cancel to keep " +
		"theirs."})
}

// jsonValue is a value as it looks when it was read from JSON.
func jsonValue(value any) (out any) {
	if text, err := json.Marshal(value); err != nil || json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// doToVersion changes an object only if it is still as it was read. What has no version
// is changed as it is.
func (v *Visit) doToVersion(operation string, ref id.ID, version string, input Fields) error {
	o := v.Catalog.Named(operation)
	input["id"] = ref
	if version == "" || !o.TakesIfMatch() {
		return v.Do(operation, input, nil)
	}
	key := v.onceKey()
	_, err := v.doOnce(o, op.Request{Caller: v.Caller, Door: op.ConsoleDoor, ID: v.ID, Path: []string{string(ref)},
		IfMatch: `"` + version + `"`, Key: key, HasKey: key != "",
		Body: func() ([]byte, error) { return json.Marshal(input) }})
	return err
}
