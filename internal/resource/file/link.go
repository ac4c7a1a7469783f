package file

import (
	"context"
	"errors"

	"frontdesk/internal/account"
	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/fault"
	"frontdesk/internal/kernel/id"
	"frontdesk/internal/kernel/op"
	"frontdesk/internal/kernel/secret"
)

// AccessLink lets anyone who has its address fetch one file. Only a hash of its
// token is kept.
type AccessLink struct {
	op.Record
	FileID        id.ID       `json:"fileId"`
	ExpiresAt     *clock.Time `json:"expiresAt" doc:"null means never"`
	MaxDownloads  *int64      `json:"maxDownloads" doc:"null means unlimited"`
	DownloadCount int64       `json:"downloadCount"`
	URL           *string     `json:"url" db:"-" max:"2048" doc:"the public address, shown once, on creation"`

	Hash []byte `json:"-" db:"hash"`
}

var accessLinks = op.NewNested[AccessLink]("file_access_links", db.Life{
	Noun:         "access link",
	ExternalText: db.NoExternalText,
	Parent:       db.RefTo("file_id", "files", db.EndsAtPurge),
})

// LinkPrefix starts the token of every access link.
const LinkPrefix = "fl_"

func (s *Store) linkOperations() []*op.Op {
	return []*op.Op{
		op.ListChildren(op.Spec{Name: "files.access_links.list",
			NounWords: "link, share, download, url, public"}, accessLinks),
		op.Write(op.Spec{
			Name:    "files.access_links.create",
			Words:   "share, give access, send file, hand out",
			Outward: true,
			Route:   "POST /v1/files/{id}/access-links",
			Summary: "Create a public link to a file.",
			Description: "The url is shown only in this answer. Without expiresAt and maxDownloads the link works " +
				"until it or the file is deleted.",
			Events:  []string{"file.access_link.created"},
			Secret:  true,
			Reads:   true,
			Example: `{` + exampleID + `, "maxDownloads": 5}`,
		}, s.createLink),
		op.GetChild(op.Spec{Name: "files.access_links.get"}, accessLinks),
		op.DeleteChild(op.Spec{Name: "files.access_links.delete",
			Words: "revoke, stop working, unshare, withdraw"}, accessLinks),
		op.Bytes(op.Spec{
			Name:     "files.access_links.download",
			Route:    "GET /f/{token}",
			Resource: "files",
			Public:   true,
			Summary:  "Get the bytes of a file by its access link.",
			Description: "Every GET counts as a download, even of a part (Range); a HEAD does not. A link that is " +
				"expired, used up, deleted or unknown is not found.",
			Events:  []string{"file.access_link.downloaded"},
			Example: `{"token": "fl_0000000000000000000000000000000000000000"}`,
		}, s.downloadByLink),
	}
}

type linkCreate struct {
	ID           id.ID       `path:"id" doc:"the file"`
	ExpiresAt    *clock.Time `json:"expiresAt" doc:"must be in the future"`
	MaxDownloads *int64      `json:"maxDownloads" min:"1" max:"1000000000" doc:"by default unlimited"`
}

func (in *linkCreate) Prepare(_ context.Context, c *op.Call) error {
	if in.ExpiresAt != nil && *in.ExpiresAt <= c.Now {
		return fault.Field("expiresAt", "Must be in the future")
	}
	return nil
}

// createLink makes a link. The URL is shown only in this answer: the row keeps a hash
// of its token.
func (s *Store) createLink(ctx context.Context, c *op.Call, in linkCreate) (*AccessLink, error) {
	if err := accessLinks.LockParent(ctx, c, in.ID); err != nil {
		return nil, err
	}
	token := secret.NewToken(LinkPrefix)
	hash := secret.HashToken(token)
	v := AccessLink{Record: c.NewRecord(), FileID: in.ID, ExpiresAt: in.ExpiresAt, MaxDownloads: in.MaxDownloads,
		Hash: hash[:]}
	if err := accessLinks.Rows.Insert(ctx, c.Tx, &v); err != nil {
		return nil, err
	}
	shown := v
	url := s.config.BaseURL + "/f/" + token
	shown.URL = &url
	return &shown, c.Emit("file.access_link.created", v.ID, &v) // without the url: the log keeps no secret
}

type linkToken struct {
	Token string `path:"token" doc:"the link's secret"`
}

// openLinkCondition is the SQL condition for a link to give its file: neither link nor file is
// deleted, the organization is not disabled, the link has not expired, and
// downloads are left.
var openLinkCondition = ` hash = $1 AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
	AND (max_downloads IS NULL OR download_count < max_downloads)
	AND EXISTS (SELECT 1 FROM files f WHERE f.id = file_access_links.file_id AND f.deleted_at IS NULL)
	AND ` + account.ActiveOrganizationSQL("file_access_links.organization_id")

// downloadByLink counts before it sends anything: of many concurrent requests,
// no more than the link allows get the file.
func (s *Store) downloadByLink(ctx context.Context, c *op.Call, in linkToken, stream *op.Stream) (*op.Content, error) {
	if !secret.IsWellFormed(LinkPrefix, in.Token) {
		return nil, noLinkFault()
	}
	hash := secret.HashToken(in.Token)
	var file *File
	find := func(ctx context.Context, tx *db.Tx, text string) (*AccessLink, error) {
		link, err := db.QueryOne[AccessLink](ctx, tx, text, hash[:], c.Now)
		if errors.Is(err, db.ErrNoRow) {
			return nil, noLinkFault()
		}
		if err != nil {
			return nil, err
		}
		c.Org = link.OrganizationID
		file, err = files.Get(ctx, tx, link.OrganizationID, link.FileID)
		if fault.IsKind(err, fault.NotFound) {
			err = noLinkFault() // deleted in the meantime
		}
		return &link, err
	}
	var err error
	if stream.Head {
		err = c.Read(ctx, func(ctx context.Context, tx *db.Tx) error {
			_, err := find(ctx, tx,
				"SELECT "+accessLinks.Rows.Columns()+" FROM file_access_links WHERE"+openLinkCondition)
			return err
		})
	} else {
		err = c.Write(ctx, func(ctx context.Context, tx *db.Tx) error {
			link, err := find(ctx, tx,
				"UPDATE file_access_links SET download_count = download_count + 1, updated_at = $2 "+
					"WHERE"+openLinkCondition+
					" RETURNING "+
					accessLinks.Rows.Columns())
			if err != nil {
				return err
			}
			return c.Emit("file.access_link.downloaded", link.ID, link)
		})
	}
	if err != nil {
		return nil, err
	}
	return downloadContent(file, s.openContent(ctx, file)), nil
}

func noLinkFault() error { return fault.NotFound.Say("There is no such link.") }
