package desk

import (
	"slices"
	"strings"

	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
)

// Picking a row of another noun by its name.

// pick finds the object that a text names: by its id, or by a name that only one
// has. "Name · detail" is what a suggestion fills in.
func (v *Visit) pick(f Field, text string) (any, string) {
	if ref, ok := id.Parse(text); ok {
		return ref, ""
	}
	if f.Ref == "members" {
		return v.pickMember(text)
	}
	n := v.noun(f.Ref)
	if n == nil {
		return nil, "This cannot be chosen here"
	}
	name, detail, _ := strings.Cut(text, " · ")
	one, many, _ := n.words()
	rows, _, err := n.lines(v, Fields{"query": name, "limit": 20})
	if err != nil {
		return nil, fault.FromError(err).Sentence()
	}
	exact := slices.DeleteFunc(slices.Clone(rows), func(l Line) bool {
		return !strings.EqualFold(l.Text, name) || detail != "" && l.Faint != detail
	})
	if len(exact) == 1 {
		return exact[0].ID, ""
	}
	switch {
	case len(rows) == 0:
		return nil, "No " + one + " is called that"
	case len(rows) == 1 && detail == "":
		return rows[0].ID, ""
	}
	return nil, Count(len(rows), one+" matches", many+" match") + ". Write more of the name, or pick one"
}

// pickMember finds a member by name.
func (v *Visit) pickMember(name string) (any, string) {
	var found []id.ID
	for _, m := range v.members() {
		if strings.EqualFold(m.Name, name) {
			found = append(found, m.ID)
		}
	}
	switch len(found) {
	case 0:
		return nil, "No member is called that"
	case 1:
		return found[0], ""
	}
	return nil, Count(len(found), "member is", "members are") + " called that; the API can tell them apart"
}

// namePicks shows objects that a link named by their ids as people call them,
// where the name alone finds them again.
func (v *Visit) namePicks(f *Form) error {
	for i := range f.Fields {
		in := &f.Fields[i]
		if ref, ok := id.Parse(in.Value); ok && in.Pick != "" {
			name, err := v.pickedName(in.Pick, ref)
			if err != nil {
				return err
			}
			in.Value = name
		}
	}
	return nil
}

// pickedName is what people call a row, or its id where that name does not find it again.
func (v *Visit) pickedName(path string, ref id.ID) (string, error) {
	names, err := v.Names(path, []id.ID{ref})
	if err != nil {
		return "", err
	}
	if found, _ := v.pick(Field{Ref: path}, names[ref]); found == ref {
		return names[ref], nil
	}
	return string(ref), nil
}

// memberFields are the fields that name members by another word.
var memberFields = []string{"assigneeId", "assigneeIds", "memberId", "memberIds", "userId"}

// PickPath is the path of the noun that a field of an operation names, or nothing where its rows cannot be picked.
func (v *Visit) PickPath(field string) string {
	path, _ := v.referred(field)
	if path == "members" && !slices.Contains(memberFields, field) {
		return ""
	}
	return path
}

// Pick finds the row that a text names, for a field of an operation, or says why there is none.
func (v *Visit) Pick(field, text string) (any, string) {
	return v.pick(Field{Ref: v.PickPath(field)}, text)
}

// PickedName is how a form shows the row that a field of an operation names.
func (v *Visit) PickedName(field string, ref id.ID) string {
	name, err := v.pickedName(v.PickPath(field), ref)
	if err != nil {
		return string(ref)
	}
	return name
}

// MemberOptions are the members to choose from.
func (v *Visit) MemberOptions() []Option { return v.choices("members") }
