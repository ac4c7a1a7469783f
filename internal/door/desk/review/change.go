package review

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/cut"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/proposal"

	"github.com/go-json-experiment/json"
)

// changedStep is a step whose fields a person edits.
type changedStep struct {
	Head   string
	Fields []desk.Input
}

// fieldsOf are the fields of a step that can be edited as text. Others, such as the lines of
// an invoice, stay as the agent has them.
func fieldsOf(in map[string]any) (out []desk.Field) {
	for name, value := range in {
		f := desk.Field{Field: name, Label: desk.Capital(proposal.FieldWords(name))}
		switch x := value.(type) {
		case string:
			_, isID := id.Parse(x)
			if isID || strings.Contains(x, "{{") {
				continue
			}
			if strings.Contains(x, "\n") || len(x) > 100 {
				f.Kind = "area"
			}
		case float64:
			if strings.HasSuffix(name, "Cents") {
				continue // its currency may be another than the page's
			}
		case bool:
			continue
		default:
			continue
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b desk.Field) int { return strings.Compare(a.Field, b.Field) })
	return out
}

// stepInput is the input of a step as fields.
func stepInput(s *proposal.ProposalStep) map[string]any {
	in := map[string]any{}
	_ = json.Unmarshal(s.Input, &in) // an object: it was checked when it was proposed
	return in
}

func fieldName(step int, field string) string { return fmt.Sprintf("%d.%s", step, field) }

func changeProposalPage(v *desk.Visit, p *proposal.Proposal) error {
	f := desk.NewTyped()
	for i := range p.Steps {
		in := stepInput(&p.Steps[i])
		for _, field := range fieldsOf(in) {
			f.Values.Set(fieldName(i, field.Field), v.InputValue(field, in[field.Field]))
		}
	}
	return showChange(v, http.StatusOK, p, f)
}

func showChange(v *desk.Visit, status int, p *proposal.Proposal, f *desk.Typed) error {
	if p.Status != proposal.Pending {
		return showProposal(v, http.StatusConflict, p, "This proposal can no longer be decided.")
	}
	d := struct {
		Path  string
		Form  *desk.Typed
		Steps []changedStep
	}{Path: reviewPath(p), Form: f}
	for i := range p.Steps {
		s := &p.Steps[i]
		shown := changedStep{Head: v.OperationWords(s.Operation)}
		for _, field := range fieldsOf(stepInput(s)) {
			name := fieldName(i, field.Field)
			in := v.Describe(s.Operation, field, f.Values.Get(name))
			in.ID, in.Name, in.Error = name, name, f.Errors[name]
			shown.Fields = append(shown.Fields, in)
		}
		d.Steps = append(d.Steps, shown)
	}
	return v.ShowView(status, "proposal_change", desk.View{Title: "Approve with changes", Section: "review",
		Crumbs: []desk.Crumb{{Text: "Review", Href: "/review"}, {Text: "Proposal", Href: d.Path},
			{Text: "Change"}}, Data: d})
}

// changedInput is the input of a step with what was typed. A field that was left alone keeps
// the very value that the agent gave it.
func changedInput(v *desk.Visit, i int, s *proposal.ProposalStep) (map[string]any, map[string]string) {
	in, wrong := stepInput(s), map[string]string{}
	for _, field := range fieldsOf(in) {
		name := fieldName(i, field.Field)
		typed := strings.ReplaceAll(v.R.PostFormValue(name), "\r\n", "\n")
		if !v.R.PostForm.Has(name) || typed == v.InputValue(field, in[field.Field]) {
			continue
		}
		read, issues := v.Read(s.Operation, []desk.Field{field}, url.Values{field.Field: {typed}})
		if issue := issues[field.Field]; issue != "" {
			wrong[name] = issue
		} else if value, ok := read[field.Field]; ok {
			in[field.Field] = value
		} else {
			delete(in, field.Field)
		}
	}
	return in, wrong
}

// changeProposal makes a proposal of the person's own from what they changed, and
// rejects the agent's.
func changeProposal(v *desk.Visit, p *proposal.Proposal) error {
	f := &desk.Typed{Values: v.R.PostForm, Errors: map[string]string{}}
	var steps []desk.Fields
	for i := range p.Steps {
		s := &p.Steps[i]
		in, wrong := changedInput(v, i, s)
		if len(wrong) > 0 {
			f.Errors = wrong
			return showChange(v, http.StatusBadRequest, p, f)
		}
		step := desk.Fields{"operation": s.Operation, "input": in}
		if s.SaveAs != nil {
			step["saveAs"] = *s.SaveAs
		}
		steps = append(steps, step)
	}
	var made proposal.Proposal
	err := v.Do("proposals.create", desk.Fields{"title": cut.Ellipsis(p.Title, 180) + " (changed)", "steps": steps,
		"replacesId": p.ID}, &made)
	if err == nil {
		err = v.Do("proposals.reject", desk.Fields{"id": p.ID,
			"reason": "A person changed it and does it themselves."}, nil)
	}
	if err != nil {
		refused, status, err := v.Refused(err, nil)
		if err != nil {
			return err
		}
		f.Error = refused.Error
		for at, text := range refused.Errors {
			f.Error = strings.TrimSpace(f.Error + " " + desk.Capital(proposal.FieldWords(at[strings.LastIndexByte(at,
				'.')+1:])) + ": " + text + ".")
		}
		return showChange(v, status, p, f)
	}
	return v.Done(reviewPath(&made), "amended", nil)
}
