package file_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/id"
)

func TestFolders(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		create := func(name, parent string) string {
			t.Helper()
			input := fmt.Sprintf(`{"name": %q}`, name)
			if parent != "" {
				input = fmt.Sprintf(`{"name": %q, "parentFolderId": %q}`, name, parent)
			}
			return call(t, "folders.create", input).OK(t, 201).Text("id")
		}
		update := func(folder, fields string) apptest.Result {
			return call(t, "folders.update", fmt.Sprintf(`{"id": %q, %s}`, folder, fields))
		}
		list := func(input string) string {
			t.Helper()
			var names []string
			v := call(t, "folders.list", input).OK(t, 200)
			for i := range v.Len() {
				names = append(names, v.At(fmt.Sprint(i)).Text("name"))
			}
			return strings.Join(names, " ")
		}
		top := create("top", "")
		middle := create("middle", top)
		bottom := create("bottom", middle)
		call(t, "folders.get", fmt.Sprintf(`{"id": %q}`, middle)).OK(t, 200).Same("parentFolderId", top)
		for input, want := range map[string]string{
			`{}`: "bottom middle top", `{"sortOrder": "asc", "limit": 2}`: "top middle",
			fmt.Sprintf(`{"parentFolderId": %q}`, top):    "middle",
			fmt.Sprintf(`{"parentFolderId": %q}`, bottom): "",
		} {
			if got := list(input); got != want {
				t.Errorf("%s lists %q, want %q", input, got, want)
			}
		}
		for _, to := range []string{top, middle, bottom} {
			update(top, fmt.Sprintf(`"parentFolderId": %q`, to)).Refused(t, 409, "FOLDER_CYCLE")
		}
		update(bottom, fmt.Sprintf(`"parentFolderId": %q`, id.New())).Issues(t, "parentFolderId")
		update(bottom, `"name": ""`).Issues(t, "name")
		update(bottom, `"name": null`).Issues(t, "name")
		call(t, "folders.create", `{}`).Issues(t, "name")
		call(t, "folders.create",
			fmt.Sprintf(`{"name": "x", "parentFolderId": %q}`, id.New())).Issues(t, "parentFolderId")
		update(bottom, fmt.Sprintf(`"name": "moved", "parentFolderId": %q`, top)).OK(t, 200).Same("name", "moved")
		update(middle, fmt.Sprintf(`"parentFolderId": %q`, bottom)).OK(t, 200)
		update(bottom, fmt.Sprintf(`"parentFolderId": %q`, middle)).Refused(t, 409, "FOLDER_CYCLE")
		if !update(bottom, `"parentFolderId": null`).OK(t, 200).At("parentFolderId").Null() {
			t.Error("it is not at the top")
		}

		remove := func(folder string) apptest.Result {
			return call(t, "folders.delete", fmt.Sprintf(`{"id": %q}`, folder))
		}
		remove(bottom).Refused(t, 409, "FOLDER_NOT_EMPTY") // it contains middle
		remove(middle).OK(t, 204)
		row := upload(t, a, file("a.txt", "x"), part{Name: "folderId", Text: bottom}).OK(t, 201).Text("id")
		remove(bottom).Refused(t, 409, "FOLDER_NOT_EMPTY")
		call(t, "files.delete", fmt.Sprintf(`{"id": %q}`, row)).OK(t, 204)
		remove(bottom).OK(t, 204)
		remove(bottom).Refused(t, 404, "NOT_FOUND")
		update(bottom, `"name": "x"`).Refused(t, 404, "NOT_FOUND")
		call(t, "folders.get", fmt.Sprintf(`{"id": %q}`, bottom)).Refused(t, 404, "NOT_FOUND")
		call(t, "folders.create",
			fmt.Sprintf(`{"name": "x", "parentFolderId": %q}`, bottom)).Issues(t, "parentFolderId")
		upload(t, a, file("a.txt", "x"), part{Name: "folderId", Text: bottom}).Issues(t, "folderId")
		if got := list(`{}`); got != "top" {
			t.Errorf("left: %q", got)
		}
		want := "folder.created folder.created folder.created folder.updated folder.updated folder.updated " +
			"folder.deleted folder.deleted"
		if got := a.Events(t, "folder."); got != want {
			t.Errorf("events %q, want %q", got, want)
		}
	})
}

// Two moves, each valid alone, do not create a cycle together.
func TestFolderRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		for range 20 {
			var pair [2]string
			for i := range pair {
				pair[i] = a.SendREST(t, a.Key, "POST", "/v1/folders", `{"name": "x"}`).OK(t, 201).Text("id")
			}
			var moved atomic.Int32
			apptest.RunAtOnce(2, func(i int) {
				switch r := a.SendREST(t, a.Key, "PATCH", "/v1/folders/"+pair[i],
					fmt.Sprintf(`{"parentFolderId": %q}`, pair[1-i])); {
				case r.Status == 200:
					moved.Add(1)
				case r.Code() != "FOLDER_CYCLE":
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
			if n := moved.Load(); n != 1 {
				t.Fatalf("%d of two moves succeeded", n)
			}
		}
	})
}

// A file enters a folder before it is deleted, or not at all.
func TestFolderDeleteRace(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		loose := upload(t, a, file("loose.txt", "x")).OK(t, 201).Text("id")
		for range 10 {
			folder := a.SendREST(t, a.Key, "POST", "/v1/folders", `{"name": "x"}`).OK(t, 201).Text("id")
			var entered, deleted atomic.Int32
			apptest.RunAtOnce(4, func(i int) {
				var r apptest.Result
				switch i {
				case 0:
					if a.SendREST(t, a.Key, "DELETE", "/v1/folders/"+folder, "").Status == 204 {
						deleted.Add(1)
					}
					return
				case 1:
					r = upload(t, a, file("a.txt", "x"), part{Name: "folderId", Text: folder})
				case 2:
					r = a.SendREST(t, a.Key, "PATCH", "/v1/files/"+loose, fmt.Sprintf(`{"folderId": %q}`, folder))
				case 3:
					r = a.SendREST(t, a.Key, "POST", "/v1/folders",
						fmt.Sprintf(`{"name": "y", "parentFolderId": %q}`, folder))
				}
				if r.Status < 300 {
					entered.Add(1)
				} else if r.Code() != "VALIDATION_ERROR" {
					t.Errorf("%d %s", r.Status, r.Body)
				}
			})
			if entered.Load() > 0 && deleted.Load() > 0 {
				t.Fatalf("%d things lie in a deleted folder", entered.Load())
			}
			if entered.Load() == 0 && deleted.Load() == 0 {
				t.Fatal("everybody was refused")
			}
			a.SendREST(t, a.Key, "PATCH", "/v1/files/"+loose, `{"folderId": null}`).OK(t, 200)
		}
	})
}
