package review

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/proposal"
)

// decideProposal does what a button of a card says.
func decideProposal(v *desk.Visit, p *proposal.Proposal) error {
	word, number, _ := strings.Cut(v.Value("decision"), " ")
	var done string
	var undo []string
	var out proposal.Proposal
	var err error
	switch word {
	case "approve":
		done, undo, err = approve(v, p.ID, v.Value("sha256"))
	case "execute":
		err, done = v.Do("proposals.execute", desk.Fields{"id": p.ID}, &out), "executed"
	case "reject":
		err, done = reject(v, p.ID, v.Value("reason")), "rejected"
	case "refresh":
		err, done = v.Do("proposals.refresh", desk.Fields{"id": p.ID}, nil), "refreshed"
	case "cancel":
		err, done = v.Do("proposals.cancel", desk.Fields{"id": p.ID}, nil), "withdrawn"
	case "leave", "put":
		err = leaveOut(v, p, number, word == "leave")
		done = map[bool]string{true: "left-out", false: "put-back"}[word == "leave"]
	default:
		return showProposal(v, http.StatusBadRequest, p, "Choose Approve or Reject.")
	}
	if err == nil {
		return v.Done(goOn(v, p, word), done, undo)
	}
	f, status, err := v.Refused(err, nil)
	if err != nil {
		return err
	}
	problem := f.Error
	for _, text := range f.Errors {
		problem = strings.TrimSpace(problem + " " + text + ".")
	}
	if p, err = readProposal(v); err != nil {
		return err
	}
	return showProposal(v, status, p, problem)
}

// goOn is where a decision leads: from the queue to the next one, or to the same one where it
// is not decided yet.
func goOn(v *desk.Visit, p *proposal.Proposal, word string) string {
	back := v.Back(reviewPath(p))
	if back == reviewPath(p) || word == "approve" || word == "reject" {
		return back
	}
	return "/review?at=p-" + string(p.ID)
}

// approve approves what the reader has looked at, and says how to take it back.
func approve(v *desk.Visit, ref id.ID, sum string) (done string, undo []string, err error) {
	var out proposal.Proposal
	if err := v.Do("proposals.approve", desk.Fields{"id": ref, "sha256": sum}, &out); err != nil {
		return "", nil, err
	}
	if out.Status != proposal.Executed {
		return "approved", nil, nil
	}
	// What was sent, charged or published cannot be taken back.
	isOurs := func(e proposal.Effect) bool {
		return slices.Contains([]string{proposal.KindCreate, proposal.KindUpdate, proposal.KindDelete}, e.Kind)
	}
	if v.May("undo.create") && slices.ContainsFunc(out.Effects, isOurs) {
		undo = []string{"proposal." + string(ref)}
	}
	return "executed", undo, nil
}

func reject(v *desk.Visit, ref id.ID, reason string) error {
	input := desk.Fields{"id": ref}
	if reason != "" {
		input["reason"] = reason
	}
	return v.Do("proposals.reject", input, nil)
}

// leaveOut leaves out one more step, or puts one back, and rehearses what is left.
func leaveOut(v *desk.Visit, p *proposal.Proposal, number string, leave bool) error {
	at, err := strconv.Atoi(number)
	if err != nil {
		return fault.NotFound.New()
	}
	positions := []int{}
	for _, l := range p.LeftOut {
		if l.Position != at {
			positions = append(positions, l.Position)
		}
	}
	if leave {
		positions = append(positions, at)
	}
	return v.Do("proposals.refresh", desk.Fields{"id": p.ID, "leaveOut": positions}, nil)
}

// Undo of an approved proposal proposes the inverse of all that it did and carries it out.
// Where something stays as it is, the page of that proposal says what and why.
var _ = desk.AddUndo("proposal", func(v *desk.Visit, mark string) (string, error) {
	ref, ok := id.Parse(strings.TrimPrefix(mark, "proposal."))
	if !ok {
		return "", fault.NotFound.New()
	}
	p, err := v.TakeBack(desk.Fields{"proposalId": ref})
	if err != nil || p.Status == proposal.Executed && len(p.Skipped) == 0 {
		return "", err
	}
	return reviewPath(p), nil
})

// decideSeveral decides what was ticked, each on its own: one that is refused, or that somebody
// else has decided, does not keep the others.
func decideSeveral(v *desk.Visit) error {
	yes := v.Value("do") == "approve"
	back := v.Back("/review")
	var undo []string
	var refused error
	done := 0
	for i, mark := range v.R.PostForm["id"] {
		if i >= 2*maxWaiting {
			break
		}
		marks, err := decideMark(v, mark, yes)
		if err != nil {
			refused = err
			continue
		}
		undo = append(undo, marks...)
		done++
	}
	switch {
	case done == 0 && refused != nil:
		return v.Explain(refused, "review", back)
	case done == 0:
		return v.Done(back, "nothing", nil)
	case refused != nil:
		return v.Done(back, "some-refused", undo, "n", strconv.Itoa(done))
	case yes:
		return v.Done(back, "several-approved", undo, "n", strconv.Itoa(done))
	}
	return v.Done(back, "several-rejected", undo, "n", strconv.Itoa(done))
}

// decideMark decides one proposal, by its id and the sum of what was looked at, or one
// suggested value.
func decideMark(v *desk.Visit, mark string, yes bool) (undo []string, err error) {
	rest, isProposal := strings.CutPrefix(mark, "proposal.")
	if !isProposal {
		value, err := decideValue(v, mark, map[bool]string{true: "confirmed", false: "dismissed"}[yes])
		return []string{value}, err
	}
	text, sum, _ := strings.Cut(rest, ".")
	ref, ok := id.Parse(text)
	if !ok {
		return nil, fault.NotFound.New()
	}
	if !yes {
		return nil, reject(v, ref, "")
	}
	_, undo, err = approve(v, ref, sum)
	return undo, err
}
