package op

import (
	"net/http"
	"strings"

	"frontdesk/internal/kernel/fault"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schemas are the schemas that the parts of a document share, by name: components/schemas of OpenAPI.
type Schemas map[string]*jsonschema.Schema

// Parameter is a field that REST takes from the path or the query.
type Parameter struct {
	Name     string
	In       string // path or query
	Doc      string
	Required bool
	Schema   *jsonschema.Schema
}

// Parameters lists the fields of the path and of the query. Schemas that are shared are added to shared.
func (o *Op) Parameters(shared Schemas) (out []Parameter) {
	for _, p := range o.in.order {
		if p.origin == originBody {
			continue
		}
		in := "query"
		if p.origin == originPath {
			in = "path"
		}
		n := *p.node
		n.doc, n.nullable = "", false
		s := n.toJSONSchema(shared, false)
		if p.defaultText != nil {
			s.Default = n.defaultJSON(*p.defaultText)
		}
		out = append(out, Parameter{p.name, in, p.node.doc, p.required, s})
	}
	return out
}

// ReferenceField is a field of the body with the id of a row of another resource, or with several ids. The caller must
// be allowed to read that resource.
type ReferenceField struct {
	Field, Resource string
	Many            bool // it is a list of ids
}

// ReferenceFields lists the fields of the body that name rows of other resources.
func (o *Op) ReferenceFields() (out []ReferenceField) {
	for _, p := range o.in.order {
		n, many := p.node, p.node.kind == arrayValue
		if many {
			n = n.elem
		}
		if p.origin == originBody && n.ref != "" && n.ref != refUnrestricted {
			out = append(out, ReferenceField{p.name, n.ref, many})
		}
	}
	return out
}

// BodySchema is the schema of the JSON body or of the form, nil when there is none, and whether a body must be sent.
func (o *Op) BodySchema(shared Schemas) (s *jsonschema.Schema, required bool) {
	if !o.hasBody {
		return nil, false
	}
	n := *o.in
	n.order, n.name = nil, ""
	for _, p := range o.in.order {
		if p.origin == originBody {
			n.order = append(n.order, p)
		}
	}
	return n.toJSONSchema(shared, true), o.requiresBody()
}

// OutputSchema is the schema of data in the answer, nil when there is none, and whether data is a list of such.
func (o *Op) OutputSchema(shared Schemas) (s *jsonschema.Schema, list bool) {
	if o.out == nil {
		return nil, false
	}
	return o.out.toJSONSchema(shared, false), o.isList
}

// PossibleFaults lists every refusal that REST can answer with, by HTTP status.
func (o *Op) PossibleFaults() map[int][]*fault.Kind {
	all := []*fault.Kind{fault.Internal, fault.Unavailable, fault.OutcomeUnknown}
	add := func(when bool, kinds ...*fault.Kind) {
		if when {
			all = append(all, kinds...)
		}
	}
	add(!o.Public, fault.Unauthorized, fault.AccountDisabled, fault.AgreementNeeded)
	add(true, fault.RateLimited)
	add(!o.Public && o.Resource != Unrestricted, fault.Forbidden)
	if o.Gate != nil {
		add(true, o.Gate.Refusal)
	}
	for _, p := range o.pathProps {
		add(true, o.badIDKind(p))
	}
	// What an id in the path names may not exist.
	add(len(o.pathProps) > 0, fault.NotFound)
	for _, p := range o.queryProps {
		add(true, fault.BadInput)
		add(p.required, fault.MissingQuery)
	}
	writes := o.Method == http.MethodPost || o.Method == http.MethodPut || o.Method == http.MethodPatch
	add(writes, fault.BadInput, fault.TooLarge)
	add(writes && (o.shape != bytesShape || o.hasBody), fault.Invalid)
	add(o.AnswersBytes() && !o.IsExport(), fault.BadRange)
	add(o.TakesIfMatch(), fault.VersionMismatch)
	add(o.TakesIdempotencyKey(), fault.BadInput, fault.KeyInFlight, fault.KeyReused)
	all = append(all, o.Errors...)
	out, seen := map[int][]*fault.Kind{}, map[*fault.Kind]bool{}
	for _, k := range all {
		if !seen[k] {
			seen[k] = true
			out[k.Status] = append(out[k.Status], k)
		}
	}
	return out
}

// IsAction reports whether the operation is a verb on something that exists, like POST /v1/invoices/{id}/issue.
func (o *Op) IsAction() bool { return o.Method == http.MethodPost && o.Action == ActionUpdate }

// PathSegments are the fixed parts of the path after /v1, without the fields in braces.
func (o *Op) PathSegments() (out []string) {
	for i, s := range strings.Split(o.Path, "/") {
		if i > 1 && !strings.HasPrefix(s, "{") {
			out = append(out, s)
		}
	}
	return out
}
