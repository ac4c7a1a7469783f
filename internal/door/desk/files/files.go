// Package files is the room of files: folders, uploads, previews, and links that
// let somebody else download a file.
package files

import (
	"embed"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"frontdesk/internal/door/desk"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/resource/file"
)

//go:embed *.html
var pages embed.FS

var _ = desk.AddTemplates(pages, "*.html")

// Join adds the room to the desk.
func Join(d *desk.Desk) {
	d.AddNouns(files, folders)
	d.Add(
		desk.Route{Pattern: "POST /files/upload", Show: upload, Streams: true},
		desk.Route{Pattern: "GET /files/{id}/content", Show: content},
		desk.Route{Pattern: "POST /folders/new-here", Show: newFolder},
		desk.Route{Pattern: "POST /files/{id}/link", Show: newLink},
	)
}

var files = &desk.Noun[file.File]{
	Path: "files", Type: "file", One: "file", Many: "files", Icon: "folder", NoCreate: true,
	EmptyText:  "Contracts, pictures and whatever you attach to mail. Choose a file above, or drop it on this page.",
	SearchHint: "Name",
	Columns: []desk.Column[file.File]{
		{Head: "Name", Sort: "name", Cell: func(_ *desk.Visit, f *file.File) desk.Cell { return desk.Text(f.Name) }},
		{Head: "Kind", Field: "contentType", Width: "w2", Fold: "two",
			Cell: func(_ *desk.Visit, f *file.File) desk.Cell {
				return desk.Text(kind(f.ContentType))
			}},
		{Head: "Folder", Field: "folderId", Width: "w3", Cell: func(_ *desk.Visit, f *file.File) desk.Cell {
			return desk.LinkTo("folders", f.FolderID)
		}},
		{Head: "Size", Field: "sizeBytes", Width: "w1", End: true, Fold: "three",
			Cell: func(_ *desk.Visit, f *file.File) desk.Cell {
				return desk.Text(desk.Size(f.SizeBytes))
			}},
		{Head: "Added", Field: "createdAt", Sort: "createdAt", Width: "w1", End: true, Fold: "four",
			Cell: func(v *desk.Visit, f *file.File) desk.Cell { return v.At(&f.CreatedAt) }},
	},
	Filters:       []desk.Filter{{Field: "folderId", Label: "Folder", Ref: "folders", HideChoice: true}},
	AboveTemplate: "files-above",
	AboveData:     aboutList,
	AdjustQuery: func(_ *desk.Visit, in desk.Fields) { // a search looks everywhere, a list into one folder
		if in["folderId"] == nil && in["query"] == nil {
			in["folderId"] = "none"
		}
	},
	Bulk: []desk.Bulk[file.File]{{Key: "move", Word: "Move", Icon: "folder", Ask: "To which folder", Done: "moved",
		Options: func(v *desk.Visit) []desk.Option {
			rows, _, _ := v.Lines("folders", desk.Fields{"limit": 100, "sortBy": "name", "sortOrder": "asc"})
			out := []desk.Option{}
			for _, f := range rows {
				out = append(out, desk.Option{Value: string(f.ID), Text: f.Text})
			}
			return out
		},
		Change: func(f *file.File, folder string) desk.Fields {
			if string(desk.IDOrEmpty(f.FolderID)) == folder {
				return nil
			}
			return desk.Fields{"folderId": folder}
		}}},
	Name: func(_ *desk.Visit, f *file.File) string { return f.Name },
	ListLine: func(_ *desk.Visit, f *file.File) desk.Line {
		return desk.Line{Icon: "file", Text: f.Name, Faint: desk.Size(f.SizeBytes)}
	},
	Fields: []desk.Field{
		{Field: "name", Label: "Name"},
		{Field: "folderId", Label: "Folder", Ref: "folders"},
		{Field: "contentType", Label: "Kind", ReadOnly: true, Show: func(_ *desk.Visit, row any) desk.Cell {
			return desk.Text(kind(row.(*file.File).ContentType))
		}},
		{Field: "sizeBytes", Label: "Size", ReadOnly: true, Show: func(_ *desk.Visit, row any) desk.Cell {
			return desk.Text(desk.Size(row.(*file.File).SizeBytes))
		}},
		{Field: "createdAt", Label: "Added", ReadOnly: true, Show: func(v *desk.Visit, row any) desk.Cell {
			return v.At(&row.(*file.File).CreatedAt)
		}},
	},
	Actions: []desk.Action[file.File]{
		{Key: "download", Label: "Download", Icon: "export", IsMain: true,
			Link: func(_ *desk.Visit, f *file.File) string {
				return "/files/" + string(f.ID) + "/content?save=yes"
			}},
	},
	Children: []desk.AnyChild{
		&desk.Child[file.AccessLink]{Key: "access-links", Ops: "files.access_links", Param: "accessLinkId",
			Head: "Shared links", One: "link", NoAdd: true,
			Line: func(v *desk.Visit, l *file.AccessLink) desk.Line {
				line := desk.Line{Text: "Link of " + v.Day(l.CreatedAt.Std()),
					Faint: desk.Count(int(l.DownloadCount), "download", "downloads")}
				if l.MaxDownloads != nil {
					line.Faint += " of " + desk.Count(int(*l.MaxDownloads), "", "")
				}
				if l.ExpiresAt != nil {
					line.Pill = desk.Pill{Text: "until " + v.When(*l.ExpiresAt).Text}
					if *l.ExpiresAt < v.Now() {
						line.Pill = desk.Pill{Text: "over", Tone: "bad"}
					}
				}
				return line
			}},
	},
	SideSections: []desk.Part[file.File]{linkForm},
	MainSections: []desk.Part[file.File]{preview},
}

var folders = &desk.Noun[file.Folder]{
	Path: "folders", Type: "folder", One: "folder", Many: "folders", Icon: "folder", RailKey: "files", NoCreate: true,
	ListPage: func(v *desk.Visit) error { return v.Redirect("/files") },
	Name:     func(_ *desk.Visit, f *file.Folder) string { return f.Name },
	ListLine: func(_ *desk.Visit, f *file.Folder) desk.Line {
		return desk.Line{Icon: "folder", Text: f.Name}
	},
	Fields: []desk.Field{
		{Field: "name", Label: "Name"},
		{Field: "parentFolderId", Label: "Inside of", Ref: "folders"},
	},
	Actions: []desk.Action[file.Folder]{{Key: "open", Label: "Open", Icon: "folder", IsMain: true,
		Link: func(_ *desk.Visit, f *file.Folder) string { return "/files?folderId=" + string(f.ID) }}},
	DeleteWarning: func(*desk.Visit, *file.Folder) (string, []string) {
		return "The folder must be empty. You can undo this right after.", nil
	},
}

// kind is a content type as people say it.
func kind(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return contentType
	}
	major, minor, _ := strings.Cut(media, "/")
	switch {
	case media == "application/pdf":
		return "PDF"
	case media == "text/csv":
		return "Table (CSV)"
	case major == "image":
		return "Picture (" + strings.ToUpper(minor) + ")"
	case major == "text":
		return "Text"
	case major == "audio":
		return "Sound"
	case major == "video":
		return "Video"
	case strings.Contains(minor, "zip"):
		return "Archive"
	}
	return media
}

// aboutList is what stands above the list: where it is, and the folders here.
func aboutList(v *desk.Visit) (any, error) {
	type place struct{ Text, Href string }
	d := struct {
		Folder, Back string
		Trail        []place
		Folders      []desk.Line
		May          bool
	}{Back: v.With(), May: v.May("files.upload")}
	q := v.R.URL.Query()
	under := "none"
	if ref, ok := id.Parse(q.Get("folderId")); ok {
		d.Folder, under = string(ref), string(ref)
		d.Trail = append(d.Trail, place{"Files", "/files"})
		trail := []place{}
		for next := &ref; next != nil && len(trail) < 20; {
			var f file.Folder
			if err := v.Do("folders.get", desk.Fields{"id": *next}, &f); err != nil {
				if fault.IsKind(err, fault.NotFound) {
					break
				}
				return nil, err
			}
			trail = append([]place{{f.Name, "/files?folderId=" + string(f.ID)}}, trail...)
			next = f.ParentFolderID
		}
		d.Trail = append(d.Trail, trail...)
	}
	if q.Get("query") == "" {
		rows, _, err := v.Lines("folders", desk.Fields{"parentFolderId": under, "limit": 100, "sortBy": "name",
			"sortOrder": "asc"})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i].Href = "/files?folderId=" + string(rows[i].ID)
		}
		d.Folders = rows
	}
	return d, nil
}

// upload takes files from a form, one request each when the script sends them.
func upload(v *desk.Visit) error {
	var made file.File
	if err := v.Upload("files.upload", v.R.Body, &made); err != nil {
		return v.Explain(err, "files", "/files")
	}
	to := "/files"
	if made.FolderID != nil {
		to += "?folderId=" + string(*made.FolderID)
	}
	return v.Done(to, "uploaded", nil)
}

// content answers with a file: to be seen in a frame, or to be saved.
func content(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	return v.Bytes("files.download", []string{string(ref)}, v.R.URL.Query().Get("save") == "")
}

// preview shows pictures, PDF and text.
func preview(_ *desk.Visit, f *file.File) (*desk.Section, error) {
	media, _, err := mime.ParseMediaType(f.ContentType)
	if err != nil {
		media = ""
	}
	at := "/files/" + string(f.ID) + "/content"
	d := map[string]string{"Src": at, "Name": f.Name, "As": ""}
	switch {
	case strings.HasPrefix(media, "image/") && desk.Showable(media):
		d["As"] = "picture"
	case desk.Showable(media):
		d["As"] = "frame"
	}
	return &desk.Section{Name: "file-preview", Data: d}, nil
}

// linkForm makes a link that others can download the file with.
func linkForm(v *desk.Visit, f *file.File) (*desk.Section, error) {
	if !v.May("files.access_links.create") {
		return nil, nil
	}
	return &desk.Section{Name: "link-form", Data: map[string]string{"To": "/files/" + string(f.ID) + "/link"}}, nil
}

// newLink makes a link and shows its address, once.
func newLink(v *desk.Visit) error {
	ref, err := v.PathID("id")
	if err != nil {
		return err
	}
	at := "/files/" + string(ref)
	in := desk.Fields{"id": ref}
	if days := v.Value("days"); days == "1" || days == "7" || days == "30" {
		hours := map[string]int{"1": 1, "7": 7, "30": 30}[days]
		in["expiresAt"] = v.Later(hours)
	}
	var l file.AccessLink
	if err := v.Do("files.access_links.create", in, &l); err != nil {
		return v.Explain(err, "files", at)
	}
	address := ""
	if l.URL != nil {
		address = *l.URL
	}
	return v.Show(http.StatusOK, "link-made", desk.View{Title: "The link is ready", Section: "files",
		Crumbs: []desk.Crumb{{Text: "Files", Href: "/files"}, {Text: "File", Href: at}, {Text: "Link"}},
		Data:   map[string]string{"URL": address, "Back": at}})
}

// newFolder makes a folder where the list is.
func newFolder(v *desk.Visit) error {
	in := desk.Fields{"name": v.Value("name")}
	to := url.URL{Path: "/files"}
	if ref, ok := id.Parse(v.Value("parent")); ok {
		in["parentFolderId"] = ref
		to.RawQuery = "folderId=" + string(ref)
	}
	if err := v.Do("folders.create", in, nil); err != nil {
		return v.Explain(err, "files", to.String())
	}
	return v.Done(to.String(), "created", nil)
}

var _ = desk.AddDoneTexts(map[string]string{"moved": "Moved."})
