package op_test

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

// penFields are a noun's fields. Nickname is the one that somebody adds: a line here, and a
// column. Nothing below names it but the test.
type penFields struct {
	Name     string  `json:"name" min:"1"`
	Nickname *string `json:"nickname"`
}

type pen struct {
	op.Record
	penFields
}

var pens = db.NewTable[pen]("test_pens", db.Life{Noun: "test pen", ExternalText: db.NoExternalText,
	OnlyInTests: true})

type penList struct{ op.Browse }

type penUpdate struct {
	ID id.ID `path:"id"`
	op.Changes[penFields]
}

func penOperations() []*op.Op {
	return op.WithExport(op.WithBatch([]*op.Op{
		op.ListRows(op.Spec{Name: "test_pens.list"}, pens, op.Unfiltered[penList]),
		op.Write(op.Spec{
			Name:    "test_pens.create",
			Route:   "POST /v1/test-pens",
			Summary: "Create a pen.",
			Events:  []string{"test_pen.created"},
			Example: `{"name": "a"}`,
		}, func(ctx context.Context, c *op.Call, in penFields) (*pen, error) {
			v := &pen{c.NewRecord(), in}
			if err := pens.Insert(ctx, c.Tx, v); err != nil {
				return nil, err
			}
			return v, c.Emit("test_pen.created", v.ID, v)
		}),
		op.GetRow(op.Spec{Name: "test_pens.get"}, pens),
		op.Write(op.Spec{
			Name:    "test_pens.update",
			Route:   "PATCH /v1/test-pens/{id}",
			Summary: "Change a pen.",
			Events:  []string{"test_pen.updated"},
			Example: `{"id": "6f1c2a34-9d6c-4c1e-8a54-1f0a3d6b7c88", "name": "b"}`,
		}, func(ctx context.Context, c *op.Call, in penUpdate) (*pen, error) {
			v, err := pens.Lock(ctx, c.Tx, c.Org, in.ID)
			if err != nil || !op.Apply(v, &in) {
				return v, err
			}
			if err := pens.Save(ctx, c.Tx, v); err != nil {
				return nil, err
			}
			return v, c.Emit("test_pen.updated", v.ID, v)
		}),
		op.DeleteRow(op.Spec{Name: "test_pens.delete"}, pens),
	}))
}

var penMigration = fstest.MapFS{"0902_pens.sql": {Data: []byte(`-- Pens, which only a test has.
CREATE TABLE test_pens (
  seq SEQ,
  id ID NOT NULL UNIQUE,
  organization_id ID NOT NULL,
  created_at TIME NOT NULL,
  updated_at TIME NOT NULL,
  deleted_at TIME,
  external BOOL NOT NULL DEFAULT FALSE,
  name TEXT NOT NULL,
  nickname TEXT
);
`)}}

// A field that is added to a noun's fields comes through every door: created, changed,
// cleared, in a batch, in a list, in an event, in an export and in a tool's schema.
func TestAddedField(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		v := call(t, "test_pens.create", `{"name": "a", "nickname": "Nib"}`).OK(t, 201)
		v.Same("nickname", "Nib")
		ref := func(fields string) string { return fmt.Sprintf(`{"id": %q%s}`, v.Text("id"), fields) }
		call(t, "test_pens.get", ref("")).OK(t, 200).Same("nickname", "Nib")
		call(t, "test_pens.update", ref(`, "nickname": "Quill"`)).OK(t, 200).Same("nickname", "Quill")
		call(t, "test_pens.update", ref(`, "name": "b"`)).OK(t, 200).Same("nickname", "Quill")
		rows := fmt.Sprintf(`{"rows": [{"name": "c", "nickname": "Biro"}, {"id": %q, "nickname": null}]}`, v.Text("id"))
		done := call(t, "test_pens.batch", rows).OK(t, 200)
		done.Same("0.data.nickname", "Biro")
		call(t, "test_pens.get", ref("")).OK(t, 200).Same("nickname", "<nil>")
		call(t, "test_pens.list", `{}`).OK(t, 200).Same("0.nickname", "Biro")

		file := a.SendREST(t, a.Key, http.MethodGet, "/v1/exports/test-pens.csv", "")
		text := string(file.Body)
		if !strings.Contains(text, ",name,nickname\n") || !strings.Contains(text, ",c,Biro\n") {
			t.Errorf("the export is %q", text)
		}
		for _, name := range []string{"test_pens.create", "test_pens.update"} {
			if a.Catalog.Named(name).InputSchema().Properties["nickname"] == nil {
				t.Errorf("the schema of %s has no nickname", name)
			}
		}
		if n := originQuery(t, a,
			"SELECT count(*) FROM events WHERE organization_id = $1 AND type LIKE 'test_pen.%' AND "+
				"CAST(data AS TEXT) LIKE '%\"nickname\"%'"); n != 5 {
			t.Errorf("%d events have it", n)
		}
		call(t, "test_pens.delete", ref("")).OK(t, 204)
		call(t, "test_pens.get", ref("")).Refused(t, 404, "NOT_FOUND")
	}, app.Extra{Operations: penOperations(), Migrations: []fs.FS{penMigration}})
}

// A noun whose create or update forgot a field that the other one takes, or whose answer lacks it, is not declared at
// all.
func TestForgottenField(t *testing.T) {
	type forgetful struct {
		Name string `json:"name"`
	}
	create := func(context.Context, *op.Call, forgetful) (*pen, error) { return nil, nil }
	whole := func(context.Context, *op.Call, penFields) (*pen, error) { return nil, nil }
	poor := func(context.Context, *op.Call, penUpdate) (*struct {
		op.Record
		forgetful
	}, error) {
		return nil, nil
	}
	update := func(context.Context, *op.Call, penUpdate) (*pen, error) { return nil, nil }
	type forgetfulUpdate struct {
		ID id.ID `path:"id"`
		op.Changes[forgetful]
	}
	less := func(context.Context, *op.Call, forgetfulUpdate) (*pen, error) { return nil, nil }
	post := op.Spec{Name: "forgetful.create", Route: "POST /v1/contacts", Summary: "Create."}
	patch := op.Spec{Name: "forgetful.update", Route: "PATCH /v1/contacts/{id}", Summary: "Change."}
	excused := patch
	excused.FieldExceptions = []string{"nickname"}
	fixed := post
	fixed.FieldExceptions = []string{"nickname"}
	for name, c := range map[string]struct {
		operations []*op.Op
		wants      string
	}{
		"in update":  {[]*op.Op{op.Write(post, whole), op.Write(patch, less)}, "forgetful.create takes nickname"},
		"fixed":      {[]*op.Op{op.Write(fixed, whole), op.Write(patch, less)}, ""},
		"in create":  {[]*op.Op{op.Write(post, create), op.Write(patch, update)}, "forgetful.update takes nickname"},
		"in the row": {[]*op.Op{op.Write(post, whole), op.Write(patch, poor)}, "forgetful.update takes nickname"},
		"needlessly": {[]*op.Op{op.Write(post, whole), op.Write(excused, update)}, "forgetful.update takes nickname"},
		"on purpose": {[]*op.Op{op.Write(post, create), op.Write(excused, update)}, ""},
		"nowhere":    {[]*op.Op{op.Write(post, whole), op.Write(patch, update)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if told := fmt.Sprint(recover()); !strings.Contains(told, c.wants) || c.wants == "" && told != "<nil>" {
					t.Errorf("it said %s", told)
				}
			}()
			op.NewCatalog(c.operations)
		})
	}
}

// A field that callers set and that is no column would be answered once and never again.
func TestUnstoredField(t *testing.T) {
	type unstored struct {
		Name string `json:"name" db:"-"`
	}
	defer func() {
		if told := fmt.Sprint(recover()); !strings.Contains(told, `operation pens.create: name is tagged db:"-"`) {
			t.Errorf("it said %s", told)
		}
	}()
	op.Write(op.Spec{Name: "pens.create", Route: "POST /v1/contacts", Summary: "Create."},
		func(context.Context, *op.Call, unstored) (*pen, error) { return nil, nil })
}
