package op

import (
	"context"

	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// LoadAsJSON loads some rows of an organization as their answers show them, by id. A row that is missing or deleted is
// left out.
func LoadAsJSON[T interface{ RowID() id.ID }](ctx context.Context, tx *db.Tx, table *db.Table[T], org id.ID,
	ids []id.ID) (map[id.ID]jsontext.Value, error) {
	rows, err := db.QueryAll[T](ctx, tx, "SELECT "+table.Columns()+" FROM "+table.Name()+
		" WHERE organization_id = $1 AND id = ANY($2) AND deleted_at IS NULL", org, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[id.ID]jsontext.Value, len(rows))
	for i := range rows {
		if out[rows[i].RowID()], err = json.Marshal(&rows[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}
