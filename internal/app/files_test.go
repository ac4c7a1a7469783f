package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontdesk/internal/adapter/s3/s3test"
	"frontdesk/internal/app"
	"frontdesk/internal/apptest"
	"frontdesk/internal/kernel/config"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/db/dbtest"
	"frontdesk/internal/kernel/id"
)

// zeros is a large file that needs no memory.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// sendLarge uploads n bytes to a server, as they are made.
func (s *server) sendLarge(ctx context.Context, v apptest.Tenant, n int64, sent func(int64)) (*http.Response, error) {
	r, w := io.Pipe()
	form := multipart.NewWriter(w)
	go func() {
		part, err := form.CreateFormFile("file", "large.bin")
		for done := int64(0); err == nil && done < n; {
			var m int64
			m, err = io.CopyN(part, zeros{}, min(1<<20, n-done))
			done += m
			if err == nil && sent != nil {
				sent(done)
			}
		}
		if err == nil {
			err = form.Close()
		}
		w.CloseWithError(err)
	}()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/files", r)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+v.Key)
	req.Header.Set("Content-Type", form.FormDataContentType())
	return http.DefaultClient.Do(req)
}

// resident is the memory of the server's own, in kilobytes: not what the
// kernel keeps of files for it.
func (s *server) resident() int {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	m := regexp.MustCompile(`RssAnon:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		s.t.Skip("this kernel does not tell the memory of a process")
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// watch tells the most memory that the server has while fn runs.
func (s *server) watch(fn func()) (most int) {
	done := make(chan struct{})
	go func() { defer close(done); fn() }()
	for {
		most = max(most, s.resident())
		select {
		case <-done:
			return most
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A file passes through the server without ever being in its memory.
func TestLargeFiles(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		const size = 100 << 20
		s.settings.Files.MaxBytes = size
		s.start()
		row := ""
		for _, n := range []int64{1 << 20, size} { // the first warms up
			before := s.resident()
			most := s.watch(func() {
				res, err := s.sendLarge(t.Context(), v, n, nil)
				if err != nil {
					t.Error(err)
					return
				}
				defer res.Body.Close()
				var answer struct {
					Data struct {
						ID        string
						SizeBytes int64
					}
				}
				if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != 201 ||
					answer.Data.SizeBytes != n {
					t.Errorf("%d, %v, %+v", res.StatusCode, err, answer)
				}
				row = answer.Data.ID
			})
			t.Logf("upload of %d MiB: %.1f MB before, at most %.1f MB", n>>20, float64(before)/1000, float64(most)/1000)
			if n == size && most-before > 20_000 {
				t.Errorf("the memory grew by %d kB", most-before)
			}
		}
		before := s.resident()
		most := s.watch(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/files/"+row+"/content", nil)
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+v.Key)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			if n, err := io.Copy(io.Discard, res.Body); n != size || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
		t.Logf("download of %d MiB: %.1f MB before, at most %.1f MB", size>>20, float64(before)/1000,
			float64(most)/1000)
		if most-before > 20_000 {
			t.Errorf("the memory grew by %d kB", most-before)
		}
		res, err := s.sendLarge(t.Context(), v, size+1, nil)
		if err != nil {
			t.Fatal(err)
		}
		drain(res)
		if res.StatusCode != 413 {
			t.Errorf("a byte too many: %d", res.StatusCode)
		}
	})
}

// stored lists the files in a store's folder.
func stored(t *testing.T, s *config.Settings) (names []string) {
	t.Helper()
	err := filepath.WalkDir(s.FilesPath(), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.HasPrefix(d.Name(), ".") { // one names the folder itself
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// A server that is killed in the middle of an upload leaves no file, and what
// it leaves of the bytes is swept a day later.
func TestKilledUpload(t *testing.T) {
	dbtest.EachEngine(t, func(t *testing.T, e db.Engine) {
		s, v := prepare(t, e)
		s.settings.Files.MaxBytes = 100 << 20
		s.start()
		half, killed := make(chan struct{}), make(chan struct{})
		ended := make(chan error, 1)
		go func() {
			res, err := s.sendLarge(context.Background(), v, 50<<20, func(n int64) {
				if n == 20<<20 {
					close(half)
					<-killed
				}
			})
			if err == nil {
				drain(res)
			}
			ended <- err
		}()
		<-half
		s.kill()
		close(killed)
		if err := <-ended; err == nil {
			t.Fatal("the upload was answered")
		}
		if names := stored(t, &s.settings); len(names) != 1 || !strings.HasSuffix(names[0], ".tmp") {
			t.Fatalf("in the store: %v", names)
		}
		after := s.settings
		after.Listen, after.ClockOffset = "127.0.0.1:0", 25*time.Hour
		a := apptest.StartWith(t, after)
		if list := a.SendREST(t, v.Key, http.MethodGet, "/v1/files", "").OK(t, 200); list.Len() != 0 {
			t.Errorf("a file is seen: %s", list)
		}
		if err := a.Jobs.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer a.Jobs.Stop(context.Background()) //nolint:errcheck // the test is over
		err := a.DB.Write(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			_, err := a.Jobs.Enqueue(ctx, tx, "files.sweep", struct{}{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); len(stored(t,
			&s.settings)) > 0; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("left: %v", stored(t, &s.settings))
			}
		}
	})
}

// useBucket has a service keep its bytes in a bucket.
func useBucket(t *testing.T, s *config.Settings) (count func() int) {
	t.Helper()
	c := s3test.NewBucket(t)
	s.Files.S3 = config.S3{Bucket: c.Bucket, Endpoint: c.Endpoint, Region: c.Region, AccessKey: c.AccessKey,
		SecretKey: c.SecretKey}
	return func() int { return s3test.CountBlobs(t, c) }
}

// The whole service with its bytes in a bucket.
func TestFilesInBucket(t *testing.T) {
	s := apptest.Settings(t, db.SQLite)
	count := useBucket(t, &s)
	a := apptest.StartWith(t, s)
	v := a.UploadForm(t, a.Key, "/v1/files", apptest.Part{Name: "file", FileName: "a.txt", Text: "some bytes"}).OK(t,
		201)
	path := "/v1/files/" + v.Text("id")
	if r := a.SendREST(t, a.Key, http.MethodGet, path+"/content", "", "Range", "bytes=5-"); r.Status != 206 ||
		string(r.Body) != "bytes" {
		t.Errorf("%d %q", r.Status, r.Body)
	}
	a.UploadForm(t, a.Key, "/v1/files",
		apptest.Part{Name: "file", FileName: "b.txt",
			Text: strings.Repeat("x", int(s.Files.MaxBytes)+1)}).Refused(t, 413,
		"PAYLOAD_TOO_LARGE")
	if n := count(); n != 1 {
		t.Errorf("%d blobs in the bucket", n)
	}
	if _, err := os.Stat(s.FilesPath()); err == nil {
		t.Error("there is a folder too")
	}
	find := func(s config.Settings) app.Finding {
		for _, f := range app.RunDoctor(t.Context(), s) {
			if strings.Contains(f.Text+f.Remedy, s.Files.S3.SecretKey) {
				t.Errorf("the secret key is printed: %+v", f)
			}
			if f.Check == "files" {
				return f
			}
		}
		t.Fatal("no finding about files")
		return app.Finding{}
	}
	if f := find(a.Settings); f.Status != "ok" || !strings.Contains(f.Text, s.Files.S3.Bucket) {
		t.Errorf("%+v", f)
	}
	wrong := a.Settings
	wrong.Files.S3.SecretKey = "not the secret key"
	if f := find(wrong); f.Status != "fail" {
		t.Errorf("%+v", f)
	}
}

// A backup holds the files' bytes, whatever store they come from, and restores
// them into whatever store there is.
func TestBackupFiles(t *testing.T) {
	stores := map[string]func(*testing.T, *config.Settings){
		"folder": func(*testing.T, *config.Settings) {},
		"bucket": func(t *testing.T, s *config.Settings) { useBucket(t, s) },
	}
	for from, use := range stores {
		for to, useThen := range stores {
			t.Run(from+" to "+to, func(t *testing.T) {
				s := apptest.Settings(t, db.SQLite)
				use(t, &s)
				a := apptest.StartWith(t, s)
				texts := map[string]string{}
				for i := range 3 {
					text := strings.Repeat(fmt.Sprint(i), 10_000*i)
					texts[a.UploadForm(t, a.Key, "/v1/files",
						apptest.Part{Name: "file", FileName: "a.txt", Text: text}).OK(t, 201).Text("id")] = text
				}
				gone := a.UploadForm(t, a.Key, "/v1/files",
					apptest.Part{Name: "file", FileName: "a.txt", Text: "gone"}).OK(t, 201).Text("id")
				a.SendREST(t, a.Key, http.MethodDelete, "/v1/files/"+gone, "").OK(t, 204)
				path := filepath.Join(t.TempDir(), "backup")
				data, err := a.Admin.RunTask(t.Context(), "backup", app.BackupTask{Path: path}, nil)
				if err != nil {
					t.Fatal(err)
				}
				var sum app.BackupResult
				if err := json.Unmarshal(data, &sum); err != nil || sum.Files != 4 || sum.FileBytes != 30_004 {
					t.Errorf("%s, %v", data, err)
				}

				target := func() config.Settings {
					s := apptest.Settings(t, db.SQLite)
					useThen(t, &s)
					return s
				}
				next := target()
				damage := func(want string, change func(name string) error) {
					t.Helper()
					names, _ := filepath.Glob(path + ".files/*/*")
					for _, name := range names {
						old, err := os.ReadFile(name)
						if err != nil {
							t.Fatal(err)
						}
						if len(old) != 10_000 {
							continue
						}
						if err := change(name); err != nil {
							t.Fatal(err)
						}
						if _, err := app.Restore(t.Context(), next, path, nil); err == nil ||
							!strings.Contains(err.Error(), want) {
							t.Errorf("restored from damaged bytes: %v", err)
						}
						if err := os.WriteFile(name, old, 0o600); err != nil {
							t.Fatal(err)
						}
						return
					}
					t.Fatalf("nothing to damage in %v", names)
				}
				damage("are missing", os.Remove)
				damage("differ from what was stored",
					func(name string) error { return os.WriteFile(name, bytes.Repeat([]byte("x"), 10_000), 0o600) })
				restored, err := app.Restore(t.Context(), next, path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if restored.Files != 4 || restored.FileBytes != 30_004 || restored.Rows != sum.Rows {
					t.Errorf("%+v of %+v", restored, sum)
				}
				key, err := os.ReadFile(a.Settings.SealingKeyPath())
				if err == nil {
					err = os.WriteFile(next.SealingKeyPath(), key, 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				b := apptest.StartWith(t, next)
				for row, text := range texts {
					if r := b.SendREST(t, a.Key, http.MethodGet, "/v1/files/"+row+"/content", ""); r.Status != 200 ||
						string(r.Body) != text {
						t.Errorf("%s: %d, %d bytes", row, r.Status, len(r.Body))
					}
				}
			})
		}
	}
}

// Bytes that are damaged or gone are told of, with what to do; once their file
// is deleted, backup and export go on without them.
func TestBackupWithoutLostBytes(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		send := func(text string) (id, blob string) {
			id = a.UploadForm(t, a.Key, "/v1/files",
				apptest.Part{Name: "file", FileName: "a.txt", Text: text}).OK(t, 201).Text("id")
			names, _ := filepath.Glob(filepath.Join(a.Settings.FilesPath(), "*", "*"))
			for _, name := range names {
				if b, err := os.ReadFile(name); err == nil && string(b) == text {
					return id, name
				}
			}
			t.Fatalf("%s is nowhere", text)
			return "", ""
		}
		send("whole")
		damaged, blob := send("damaged")
		if err := os.WriteFile(blob, []byte("DAMAGED"), 0o600); err != nil {
			t.Fatal(err)
		}
		lost, blob := send("lost")
		if err := os.Remove(blob); err != nil {
			t.Fatal(err)
		}
		dir, n := t.TempDir(), 0
		copies := func(want string) {
			t.Helper()
			n++
			backup, export := filepath.Join(dir, fmt.Sprint("b", n)), filepath.Join(dir, fmt.Sprint("e", n))
			_, err := a.Admin.RunTask(t.Context(), "backup", app.BackupTask{Path: backup}, nil)
			_, err2 := a.Admin.RunTask(t.Context(), "organizations.export", app.ExportTask{ID: a.Org, Out: export}, nil)
			for _, err := range []error{err, err2} {
				if want == "" && err != nil || want != "" &&
					(err == nil || !strings.Contains(err.Error(), want) ||
						!strings.Contains(err.Error(), "delete the file")) {
					t.Errorf("%v, want %s", err, want)
				}
			}
			if want != "" {
				return
			}
			for folder, pattern := range map[string]string{backup + ".files": "*/*",
				filepath.Join(export, "files"): "*"} {
				if names, _ := filepath.Glob(filepath.Join(folder, pattern)); len(names) != 1 {
					t.Errorf("copied %v", names)
				}
			}
			if _, err := app.Restore(t.Context(), apptest.Settings(t, db.SQLite), backup, nil); err != nil {
				t.Error(err)
			}
		}
		copies(damaged)
		a.SendREST(t, a.Key, http.MethodDelete, "/v1/files/"+damaged, "").OK(t, 204)
		copies(lost)
		a.SendREST(t, a.Key, http.MethodDelete, "/v1/files/"+lost, "").OK(t, 204)
		copies("")
	})
}

// An export holds the bytes of an organization's files, and of no other's.
func TestExportFiles(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		other := a.NewTenant(t, "free")
		send := func(key, text string) id.ID {
			return a.UploadForm(t, key, "/v1/files",
				apptest.Part{Name: "file", FileName: "a.txt", Text: text}).OK(t, 201).ID("id")
		}
		mine, theirs := send(a.Key, "mine"), send(other.Key, "theirs")
		folder := filepath.Join(t.TempDir(), "export")
		data, err := a.Admin.RunTask(t.Context(), "organizations.export", app.ExportTask{ID: a.Org, Out: folder}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out app.ExportResult
		if err := json.Unmarshal(data, &out); err != nil || out.Files != 1 || out.Tables["files"] != 1 {
			t.Errorf("%s, %v", data, err)
		}
		if b, err := os.ReadFile(filepath.Join(folder, "files", string(mine))); err != nil || string(b) != "mine" {
			t.Errorf("%q, %v", b, err)
		}
		if _, err := os.Stat(filepath.Join(folder, "files", string(theirs))); err == nil {
			t.Error("another organization's file is in it")
		}
		rows, err := os.ReadFile(filepath.Join(folder, "files.jsonl"))
		if err != nil || strings.Contains(string(rows), "blob_key") || !strings.Contains(string(rows), string(mine)) {
			t.Errorf("%s, %v", rows, err)
		}
	})
}
