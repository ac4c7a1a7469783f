// Command pocketbase is PocketBase as it comes, with one command more:
// prepare makes the collection that the bench fills, two accounts, and prints
// their tokens. It is a module of its own because PocketBase wants other
// versions of SQLite than the service.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/spf13/cobra"
)

func main() {
	app := pocketbase.New()
	app.RootCmd.AddCommand(&cobra.Command{Use: "prepare", Run: func(*cobra.Command, []string) {
		// Execute drops a command's error, and the bench must hear of it.
		if err := prepare(app); err != nil {
			log.Fatal(err)
		}
	}})
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}

func prepare(app core.App) error {
	if err := app.RunAllMigrations(); err != nil {
		return err
	}
	c := core.NewBaseCollection("contacts")
	rule := `@request.auth.id != ""`
	c.ListRule, c.ViewRule, c.CreateRule = &rule, &rule, &rule
	for _, name := range []string{"firstName", "middleName", "lastName", "prefix", "suffix", "organizationName",
		"jobTitle", "birthday", "notes"} {
		c.Fields.Add(&core.TextField{Name: name})
	}
	c.Fields.Add(&core.AutodateField{Name: "created", OnCreate: true},
		&core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true})
	c.AddIndex("contacts_created", false, "`created` DESC", "")
	if err := app.Save(c); err != nil {
		return fmt.Errorf("collection: %w", err)
	}
	// A superuser passes every rule and costs the server less; a user must
	// satisfy them. Without a superuser, serve would offer to make one.
	answer := map[string]string{}
	for name, collection := range map[string]string{"superuser": core.CollectionNameSuperusers, "user": "users"} {
		var err error
		if answer[name], err = token(app, collection, name+"@example.com"); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	var synchronous int
	if err := app.NonconcurrentDB().NewQuery("PRAGMA synchronous").Row(&synchronous); err != nil {
		return err
	}
	answer["synchronous"] = strconv.Itoa(synchronous)
	return json.NewEncoder(os.Stdout).Encode(answer)
}

// token makes an account and signs it in.
func token(app core.App, collection, email string) (string, error) {
	c, err := app.FindCollectionByNameOrId(collection)
	if err != nil {
		return "", err
	}
	r := core.NewRecord(c)
	r.SetEmail(email)
	r.SetRandomPassword()
	r.SetVerified(true)
	if err := app.Save(r); err != nil {
		return "", err
	}
	return r.NewAuthToken()
}
