package desk_test

import (
	"strings"
	"testing"

	"frontdesk/internal/apptest"
)

// Where there are several businesses, one is chosen in the frame: lists, forms and
// figures are its own, until all are chosen again.
func TestChooseBusiness(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		b.get("/customers").at("/customers").hasNot("All businesses")
		first := a.SendREST(t, a.Key, "GET", "/v1/businesses", "").OK(t, 200).Text("0.id")
		second := a.SendREST(t, a.Key, "POST", "/v1/businesses", `{"name": "Bakery", "currency": "eur"}`).OK(t, 201).
			Text("id")
		a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Compilers", "businessId": "`+first+`"}`).OK(t, 201)
		loaves := a.SendREST(t, a.Key, "POST", "/v1/customers", `{"name": "Loaves", "businessId": "`+second+`"}`).
			OK(t, 201).Text("id")
		b.get("/customers").at("/customers", "All businesses", "Bakery", "Compilers", "Loaves")
		b.post("/business", "business", second, "back", "/customers").at("/customers", "Loaves").hasNot("Compilers")
		b.get("/customers?businessId=all").at("/customers", "Loaves", "Compilers")
		b.get("/customers?businessId="+first).at("/customers", "Compilers").hasNot("Loaves")
		b.get("/search?query=compilers").at("/search", "Compilers") // the search finds everything
		b.post("/customers/new", "name", "Rye").at("/customers/", "Bakery")
		b.post("/tasks/new", "title", "Bake").at("/tasks/")
		tasks := a.SendREST(t, a.Key, "GET", "/v1/tasks?businessId="+second, "").OK(t, 200)
		tasks.Same("0.title", "Bake")
		b.get("/tasks").at("/tasks", "Bake")
		if export := b.get("/customers/export").Body; !strings.Contains(export, loaves) ||
			strings.Contains(export, "Compilers") {
			t.Errorf("%s", export)
		}
		b.get("/").at("/", "Bakery")
		b.post("/business", "business", first, "back", "/tasks").at("/tasks").hasNot("Bake</")
		b.post("/business", "business", "", "back", "/customers").at("/customers", "Compilers", "Loaves")
		b.post("/business", "business", "nonsense", "back", "//evil.example").at("/")
	})
}
