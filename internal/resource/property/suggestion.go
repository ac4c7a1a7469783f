package property

import (
	"context"
	"strings"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
)

func suggestionOperations() []*op.Op {
	return []*op.Op{op.Read(op.Spec{
		Name:      "suggestions.list",
		NounWords: "suggested, guess, confirm",
		Words:     "should confirm, find out, research",
		Route:     "GET /v1/suggestions",
		Resource:  "properties",
		Summary:   "List the property values that wait for a decision, newest first.",
		Description: "Those of contacts, customers and businesses together. Confirm or dismiss one with the update " +
			"operation of its object's properties.",
		Example: `{"objectType": ["contact"], "limit": 20}`,
	}, listSuggestions)}
}

type suggestionList struct {
	op.Page
	ObjectType   []string `query:"objectType" enum:"contact,customer,business"`
	DefinitionID *id.ID   `query:"definitionId"`
	AgentID      *id.ID   `query:"agentId" doc:"suggested by this agent"`
}

func listSuggestions(ctx context.Context, c *op.Call, in suggestionList) (*op.List[PropertyValue], error) {
	w := db.InOrganization(c.Org).And("status = 'suggested'").And(liveDefinitionSQL).And(liveObjectSQL())
	if len(in.ObjectType) > 0 {
		text, args := db.OneOfCondition("object_type", in.ObjectType)
		w.And(text, args...)
	}
	if in.DefinitionID != nil {
		w.And("definition_id = ?", *in.DefinitionID)
	}
	if in.AgentID != nil {
		w.And("set_by_agent_id = ?", *in.AgentID)
	}
	rows, err := values.List(ctx, c.Tx, w, in.ToDBPage())
	return op.NewList(in.Page, rows), err
}

// liveObjectSQL selects the values whose object is not deleted.
func liveObjectSQL() string {
	var kinds []string
	for _, o := range objectKinds {
		kinds = append(kinds, "object_type = '"+o.kind+"' AND EXISTS (SELECT 1 FROM "+o.table+
			" o WHERE o.organization_id = $1 AND o.id = property_values.object_id AND o.deleted_at IS NULL)")
	}
	return "(" + strings.Join(kinds, " OR ") + ")"
}
