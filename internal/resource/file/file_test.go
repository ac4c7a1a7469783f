package file_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

type part = apptest.Part

func file(name, text string) part { return part{Name: "file", FileName: name, Text: text} }

func upload(t testing.TB, a *apptest.App, parts ...part) apptest.Result {
	t.Helper()
	return a.UploadForm(t, a.Key, "/v1/files", parts...)
}

// One file from upload to deletion: the bytes by REST, everything else through
// every door.
func TestFiles(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		folder := call(t, "folders.create", `{"name": "Letters"}`).OK(t, 201).Text("id")
		other := call(t, "folders.create", `{"name": "Other"}`).OK(t, 201).Text("id")
		const text = "Dear Ada,\nthe engine is ready.\n"
		v := upload(t, a, part{Name: "folderId", Text: folder}, file(`C:\letters\../Ada's letter.txt`, text),
			part{Name: "name", Text: "letter to ada.txt"}).OK(t, 201)
		sum := sha256.Sum256([]byte(text))
		v.Same("name", "letter to ada.txt")
		v.Same("contentType", "text/plain; charset=utf-8")
		v.Same("sizeBytes", len(text))
		v.Same("sha256", hex.EncodeToString(sum[:]))
		v.Same("folderId", folder)
		v.Same("organizationId", a.Org)
		row := v.Text("id")
		second := upload(t, a, file("prices.csv", "a,b\n1,2\n")).OK(t, 201)
		second.Same("contentType", "text/csv; charset=utf-8")
		if !second.At("folderId").Null() {
			t.Error("a file without a folder has one")
		}
		if got := call(t, "files.get", fmt.Sprintf(`{"id": %q}`, row)).OK(t, 200); got.String() != v.String() {
			t.Errorf("got %s, uploaded %s", got, v)
		}

		names := func(filter string) string {
			t.Helper()
			var out []string
			list := call(t, "files.list", filter).OK(t, 200)
			for i := range list.Len() {
				out = append(out, list.At(fmt.Sprint(i)).Text("name"))
			}
			return strings.Join(out, ", ")
		}
		for filter, want := range map[string]string{
			`{}`:                                    "prices.csv, letter to ada.txt",
			`{"sortOrder": "asc"}`:                  "letter to ada.txt, prices.csv",
			`{"limit": 1, "offset": 1}`:             "letter to ada.txt",
			fmt.Sprintf(`{"folderId": %q}`, folder): "letter to ada.txt",
			fmt.Sprintf(`{"folderId": %q}`, other):  "",
			`{"query": "ADA.T"}`:                    "letter to ada.txt",
			`{"query": "pr"}`:                       "prices.csv",
			`{"query": "nothing"}`:                  "",
			fmt.Sprintf(`{"folderId": %q, "query": "csv"}`, folder):  "",
			fmt.Sprintf(`{"folderId": %q, "query": "lett"}`, folder): "letter to ada.txt",
		} {
			if got := names(filter); got != want {
				t.Errorf("%s lists %q, want %q", filter, got, want)
			}
		}

		moved := call(t, "files.update",
			fmt.Sprintf(`{"id": %q, "name": "/etc/answer.txt", "folderId": %q}`, row, other)).OK(t, 200)
		moved.Same("name", "answer.txt")
		moved.Same("folderId", other)
		if names(`{"query": "answer"}`) != "answer.txt" || names(`{"query": "letter"}`) != "" {
			t.Error("the search has the old name")
		}
		call(t, "files.update", fmt.Sprintf(`{"id": %q}`, row)).OK(t, 200).Same("updatedAt", moved.Text("updatedAt"))
		if !call(t, "files.update", fmt.Sprintf(`{"id": %q, "folderId": null}`, row)).OK(t, 200).At("folderId").Null() {
			t.Error("it did not leave its folder")
		}
		call(t, "files.update", fmt.Sprintf(`{"id": %q, "folderId": %q}`, row, id.New())).Issues(t, "folderId")
		call(t, "files.update", fmt.Sprintf(`{"id": %q, "name": null}`, row)).Issues(t, "name")
		call(t, "files.update", fmt.Sprintf(`{"id": %q, "name": "a\u0007b"}`, row)).Issues(t, "name")
		call(t, "files.update", fmt.Sprintf(`{"id": %q, "name": "a/.."}`, row)).Issues(t, "name")

		call(t, "files.delete", fmt.Sprintf(`{"id": %q}`, row)).OK(t, 204)
		call(t, "files.get", fmt.Sprintf(`{"id": %q}`, row)).Refused(t, 404, "NOT_FOUND")
		call(t, "files.delete", fmt.Sprintf(`{"id": %q}`, row)).Refused(t, 404, "NOT_FOUND")
		call(t, "files.update", fmt.Sprintf(`{"id": %q, "name": "x"}`, row)).Refused(t, 404, "NOT_FOUND")
		a.SendREST(t, a.Key, "GET", "/v1/files/"+row+"/content", "").Refused(t, 404, "NOT_FOUND")
		if names(`{}`) != "prices.csv" || names(`{"query": "answer"}`) != "" {
			t.Error("a deleted file is listed")
		}
		if got, want := a.Events(t, "file."),
			"file.created file.created file.updated file.updated file.deleted"; got != want {
			t.Errorf("events %q, want %q", got, want)
		}
	})
}

// The bytes come back unchanged, whole and in part, and as nothing that a
// browser would run.
func TestContent(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		const text = "<html><script>alert(1)</script></html>"
		v := upload(t, a, file("page.html", text)).OK(t, 201)
		v.Same("contentType", "text/html; charset=utf-8")
		path := "/v1/files/" + v.Text("id") + "/content"
		get := func(method string, status int, headers ...string) apptest.Result {
			t.Helper()
			r := a.SendREST(t, a.Key, method, path, "", headers...)
			if r.Status != status {
				t.Fatalf("%s %v: %d %s", method, headers, r.Status, r.Body)
			}
			return r
		}
		whole := get("GET", 200)
		if string(whole.Body) != text {
			t.Errorf("%q came back", whole.Body)
		}
		etag := whole.Header.Get("ETag")
		for name, want := range map[string]string{"Content-Type": "text/html; charset=utf-8",
			"X-Content-Type-Options": "nosniff",
			"Content-Disposition":    "attachment; filename=page.html", "Accept-Ranges": "bytes",
			"ETag": `"` + v.Text("sha256") + `"`} {
			if got := whole.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if p := whole.Header.Get("Content-Security-Policy"); !strings.Contains(p, "sandbox") {
			t.Errorf("the policy is %q", p)
		}
		// Many parts would be many requests to a bucket; it gets the whole.
		if r := get("GET", 200, "Range", "bytes=0-0"+strings.Repeat(",2-2", 10)); string(r.Body) != text {
			t.Errorf("%q", r.Body)
		}
		if r := get("GET", 206, "Range", "bytes=1-4"); string(r.Body) != "html" ||
			r.Header.Get("Content-Range") != fmt.Sprintf("bytes 1-4/%d", len(text)) {
			t.Errorf("a part: %q, %v", r.Body, r.Header)
		}
		if r := get("GET", 206, "Range", "bytes=-7"); string(r.Body) != "</html>" {
			t.Errorf("the end: %q", r.Body)
		}
		if r := get("GET", 206, "Range", "bytes=0-0", "If-Range", etag); string(r.Body) != "<" {
			t.Errorf("the first byte: %q", r.Body)
		}
		get("GET", 200, "Range", "bytes=0-0", "If-Range", `"other"`)
		beyond := get("GET", 416, "Range", "bytes=1000-")
		beyond.Refused(t, 416, "RANGE_NOT_SATISFIABLE")
		if got := beyond.Header.Get("Content-Range"); got != fmt.Sprintf("bytes */%d", len(text)) ||
			beyond.Header.Get("Content-Disposition") != "" {
			t.Errorf("beyond the end: %v", beyond.Header)
		}
		get("GET", 304, "If-None-Match", etag)
		if r := get("HEAD", 200); len(r.Body) != 0 || r.Header.Get("Content-Length") != fmt.Sprint(len(text)) {
			t.Errorf("HEAD: %q, %v", r.Body, r.Header)
		}
		other := a.NewTenant(t, "free")
		a.SendREST(t, other.Key, "GET", path, "").Refused(t, 404, "NOT_FOUND")
		read, _ := a.NewKey(t, a.Tenant, "files:read")
		write, _ := a.NewKey(t, a.Tenant, "files:write")
		a.SendREST(t, write, "GET", path, "").Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		a.UploadForm(t, read, "/v1/files", file("x", "y")).Refused(t, 403, "INSUFFICIENT_PERMISSIONS")
		a.SendREST(t, a.Key, "GET", "/v1/files/nope/content", "").Refused(t, 400, "INVALID_INPUT")
		if e := upload(t, a, file("empty", "")).OK(t, 201); e.Number("sizeBytes") != 0 {
			t.Errorf("an empty file: %s", e)
		} else if r := a.SendREST(t, a.Key, "GET", "/v1/files/"+e.Text("id")+"/content", ""); r.Status != 200 ||
			len(r.Body) != 0 {
			t.Errorf("its bytes: %d %q", r.Status, r.Body)
		}
	})
}

// Malformed forms are refused and leave nothing behind.
func TestUploadRefusals(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		other := a.NewTenant(t, "free")
		foreign := a.SendREST(t, other.Key, "POST", "/v1/folders", `{"name": "Theirs"}`).OK(t, 201).Text("id")
		ours := file("a.txt", "text")
		upload(t, a, part{Name: "name", Text: "x"}).Issues(t, "file")
		upload(t, a).Issues(t, "file")
		upload(t, a, ours, part{Name: "folderId", Text: foreign}).Issues(t, "folderId")
		upload(t, a, part{Name: "folderId", Text: "no id"}, ours).Issues(t, "folderId")
		upload(t, a, ours, part{Name: "name", Text: "a\x01b"}).Issues(t, "name")
		upload(t, a, ours, part{Name: "name", Text: strings.Repeat("x", 256)}).Issues(t, "name")
		upload(t, a, ours, part{Name: "name", Text: ".."}).Issues(t, "name")
		upload(t, a, ours, ours).Issues(t, "file")
		for _, parts := range [][]part{{{Name: "nope", Text: "x"}, ours}, {ours, {Name: "nope", Text: "x"}},
			{ours, {Name: "nope", FileName: "f", Text: "x"}}} {
			if e := upload(t, a, parts...).Refused(t, 400, "VALIDATION_ERROR"); !strings.Contains(e.String(), `nope`) {
				t.Errorf("an unknown part is not named: %s", e)
			}
		}
		a.SendREST(t, a.Key, "POST", "/v1/files", `{"name": "x"}`).Refused(t, 400, "INVALID_INPUT")
		a.SendREST(t, a.Key, "POST", "/v1/files", "x", "Content-Type", "text/plain").Refused(t, 400, "INVALID_INPUT")
		a.SendREST(t, a.Key, "POST", "/v1/files", "x", "Content-Type",
			"multipart/form-data").Refused(t, 400, "INVALID_INPUT")
		a.SendREST(t, a.Key, "POST", "/v1/files", "no form at all", "Content-Type",
			"multipart/form-data; boundary=x").Issues(t, "file")
		a.SendREST(t, a.Key, "POST", "/v1/files", "--x\r\nno header\r\n\r\n", "Content-Type",
			"multipart/form-data; boundary=x").Refused(t, 400, "INVALID_INPUT")
		body, kind := apptest.BuildForm(t, ours)
		a.SendREST(t, a.Key, "POST", "/v1/files", body[:len(body)-20], "Content-Type",
			kind).Refused(t, 400, "INVALID_INPUT")

		large := strings.Repeat("x", int(a.Settings.Files.MaxBytes)+1)
		upload(t, a, file("large", large)).Refused(t, 413, "PAYLOAD_TOO_LARGE")
		upload(t, a, file("fits", large[1:])).OK(t, 201)
		if n := count(t, a, "files"); n != 1 {
			t.Errorf("%d files", n)
		}
		if n := count(t, a, "stray_blobs"); n != 0 {
			t.Errorf("%d strays", n)
		}
		if n := blobs(t, a); n != 1 {
			t.Errorf("%d blobs in the store", n)
		}
		if got := a.Events(t, "file."); got != "file.created" {
			t.Errorf("events %q", got)
		}
	})
}

// A file's name has no path and no invisible characters, and its type is that
// of its bytes.
func TestNames(t *testing.T) {
	a := apptest.Start(t, db.SQLite)
	for sent, want := range map[string]string{
		"/etc/passwd":                       "passwd",
		`C:\Users\ada\letter.pdf`:           "letter.pdf",
		"../../up.txt":                      "up.txt",
		"..":                                "unnamed",
		"tab\tand\u0085next.txt":            "tabandnext.txt",
		"gepj\u202efdp.exe":                 "gepjfdp.exe",
		"Zażółć gęślą jaźń.txt":             "Zażółć gęślą jaźń.txt",
		strings.Repeat("ł", 300) + ".txt":   strings.Repeat("ł", 251) + ".txt",
		"  spaces around.txt ":              "spaces around.txt",
		`quote".txt`:                        `quote".txt`,
		"picture.png":                       "picture.png",
		"folder/":                           "folder",
		"a.html":                            "a.html",
		strings.Repeat("n", 300):            strings.Repeat("n", 255),
		"x." + strings.Repeat("long", 100):  "x." + strings.Repeat("long", 100)[:253],
		"\u2066a\u2069.txt":                 "a.txt",
		"name; filename*=UTF-8''other.text": "name; filename*=UTF-8''other.text",
	} {
		body := fmt.Sprintf("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\nContent-Type: "+
			"text/html\r\n\r\n\x89PNG\r\n\x1a\nbytes\r\n--x--\r\n",
			strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sent))
		r := a.SendREST(t, a.Key, http.MethodPost, "/v1/files", body, "Content-Type", "multipart/form-data; boundary=x")
		v := r.OK(t, 201)
		v.Same("name", want)
		v.Same("contentType", "image/png")
		c := a.SendREST(t, a.Key, http.MethodGet, "/v1/files/"+v.Text("id")+"/content", "")
		if c.Status != 200 || !strings.HasPrefix(c.Header.Get("Content-Disposition"), "attachment; filename") {
			t.Errorf("%q: %d %v", sent, c.Status, c.Header)
		}
	}
}

// A business's logo is a file of its organization.
func TestLogo(t *testing.T) {
	apptest.EachDoor(t, func(t *testing.T, a *apptest.App, call apptest.Door) {
		other := a.NewTenant(t, "free")
		foreign := a.UploadForm(t, other.Key, "/v1/files", file("logo.png", "x")).OK(t, 201).Text("id")
		logo := upload(t, a, file("logo.png", "x")).OK(t, 201).Text("id")
		set := func(file string) apptest.Result {
			return call(t, "businesses.update", fmt.Sprintf(`{"id": %q, "logoFileId": %q}`, a.Business, file))
		}
		set(foreign).Issues(t, "logoFileId")
		set(string(id.New())).Issues(t, "logoFileId")
		call(t, "businesses.create", fmt.Sprintf(`{"name": "B", "logoFileId": %q}`, foreign)).Issues(t, "logoFileId")
		set(logo).OK(t, 200).Same("logoFileId", logo)
		call(t, "files.delete", fmt.Sprintf(`{"id": %q}`, logo)).OK(t, 204)
		if v := call(t, "businesses.get",
			fmt.Sprintf(`{"id": %q}`, a.Business)).OK(t, 200); !v.At("logoFileId").Null() {
			t.Errorf("the logo is a deleted file: %s", v)
		}
		set(logo).Issues(t, "logoFileId")
		call(t, "businesses.create", fmt.Sprintf(`{"name": "B", "logoFileId": %q}`, logo)).Issues(t, "logoFileId")
	})
}

func count(t testing.TB, a *apptest.App, table string) (n int) {
	t.Helper()
	err := a.DB.Read(context.Background(), func(ctx context.Context, tx *db.Tx) (err error) {
		n, err = db.QueryOne[int](ctx, tx, "SELECT count(*) FROM "+table)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
