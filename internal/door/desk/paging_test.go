package desk_test

import (
	"fmt"
	"testing"

	"frontdesk/internal/apptest"
)

// A list that exactly fills its page does not link to an empty one, and a page
// past the last does not say that there is nothing.
func TestLastPage(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		add := func(n int) {
			a.AsOperator(t, "api_keys.create", "business", a.Business,
				fmt.Sprintf(`{"businessId": %q, "name": "Key %d.", "permissions": ["*"]}`, a.Business, n))
		}
		for n := 2; n <= 50; n++ { // the tenant has one
			add(n)
		}
		b.get("/settings/keys").at("/settings/keys", "Key 50.", "Key 2.").hasNot("Older")
		b.get("/settings/keys?page=2").at("/settings/keys", "Key 50.").hasNot("No API keys yet", "Newer")
		add(51)
		b.get("/settings/keys").at("/settings/keys", "Key 51.", "Key 2.", "Older")
		b.get("/settings/keys?page=2").at("/settings/keys", "Newer").
			hasNot("Key 51.", "Key 2.", "Older", "No API keys yet")
		b.get("/settings/keys?page=900").at("/settings/keys", "Key 51.", "Older").hasNot("No API keys yet")
	})
}
