package people

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/resource/transfer"
)

// wouldBeRefused is the file of the lines that a check refuses.
func wouldBeRefused(v *desk.Visit) error {
	i, err := dryRun(v, map[string]string{"linesAction": "fail"})
	if err != nil {
		return err
	}
	return refusedFile(v, i)
}

// wereRefused is the file of the lines that an import has refused.
func wereRefused(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	var i transfer.Import
	if err := v.Do("imports.get", desk.Fields{"id": ref}, &i); err != nil {
		return err
	}
	return refusedFile(v, &i)
}

// refusedFile answers with the refused lines as a CSV that can be mended and imported again: its headings are those
// that an import knows by itself, and the last columns, which it does not know, say what is wrong.
func refusedFile(v *desk.Visit, i *transfer.Import) error {
	fields := slices.DeleteFunc(fieldOrder(i.ObjectType), func(name string) bool {
		return !slices.ContainsFunc(i.Errors, func(e transfer.Issue) bool { return valueOf(e.Values, name) != "" })
	})
	head := []string{}
	for _, name := range fields {
		head = append(head, desk.FieldWords(name))
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Write(append(head, "What is wrong", "It was line")) //nolint:errcheck // Flush has it
	for _, e := range i.Errors {
		cells := []string{}
		for _, name := range fields {
			cells = append(cells, op.EscapeFormula(valueOf(e.Values, name)))
		}
		w.Write(append(cells, op.EscapeFormula(e.Message), strconv.Itoa(e.Line))) //nolint:errcheck // as above
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	name, _, _ := strings.Cut(i.FileName, ".")
	return v.SaveContent("text/csv; charset=utf-8", name+"-refused.csv", bytes.NewReader(out.Bytes()))
}

func valueOf(values []transfer.Value, field string) string {
	for _, value := range values {
		if value.Field == field {
			return value.After
		}
	}
	return ""
}
