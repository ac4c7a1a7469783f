package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// client makes requests to one bucket.
type client struct {
	base        string // of the bucket
	region      string
	credentials aws.CredentialsProvider
	signer      *v4.Signer
	http        *http.Client
}

func newClient(c Config) (*client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 10
	transport.ResponseHeaderTimeout = time.Minute
	transport.DisableCompression = true // bytes come back as they were stored
	out := &client{
		base:   bucketURL(c),
		region: c.Region,
		// S3 signs a path as it is sent; other services of Amazon escape it once more.
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }),
		http: &http.Client{
			Transport: transport,
			// A redirect is not followed: the signature is valid for one address only.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if _, err := url.Parse(out.base); err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	out.credentials = aws.NewCredentialsCache(findCredentials(c))
	return out, nil
}

// bucketURL is the address of the bucket. At Amazon the bucket is part of the host
// name, unless it has dots: Amazon's wildcard certificate would not be valid for that
// host. At another endpoint the bucket is part of the path, because the host name of
// the bucket may not resolve there.
func bucketURL(c Config) string {
	host := "s3." + c.Region + ".amazonaws.com"
	if strings.HasPrefix(c.Region, "cn-") {
		host += ".cn"
	}
	switch {
	case c.Endpoint != "":
		return strings.TrimSuffix(c.Endpoint, "/") + "/" + c.Bucket
	case strings.Contains(c.Bucket, "."):
		return "https://" + host + "/" + c.Bucket
	}
	return "https://" + c.Bucket + "." + host
}

func (c *client) putObject(ctx context.Context, key string, content []byte) error {
	_, err := c.callAndDecode(ctx, request{method: http.MethodPut, key: key, content: content}, nil)
	return err
}

func (c *client) getObject(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	header := http.Header{}
	if offset > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	res, err := c.sendWithRetries(ctx, request{method: http.MethodGet, key: key, header: header})
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

func (c *client) deleteObject(ctx context.Context, key string) error {
	_, err := c.callAndDecode(ctx, request{method: http.MethodDelete, key: key}, nil)
	return err
}

func (c *client) createUpload(ctx context.Context, key string) (id string, err error) {
	var out struct {
		UploadID string `xml:"UploadId"`
	}
	query := url.Values{"uploads": {""}}
	_, err = c.callAndDecode(ctx, request{method: http.MethodPost, key: key, query: query}, &out)
	return out.UploadID, err
}

func (c *client) putPart(ctx context.Context, key, upload, number string, content []byte) (etag string, err error) {
	query := url.Values{"partNumber": {number}, "uploadId": {upload}}
	header, err := c.callAndDecode(ctx, request{method: http.MethodPut, key: key, query: query, content: content}, nil)
	return header.Get("ETag"), err
}

func (c *client) completeUpload(ctx context.Context, key, upload string, etags []string) error {
	type part struct {
		PartNumber int
		ETag       string
	}
	in := struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
		Part    []part
	}{}
	for i, etag := range etags {
		in.Part = append(in.Part, part{i + 1, etag})
	}
	text, err := xml.Marshal(in)
	if err != nil {
		return fmt.Errorf("s3: %w", err)
	}
	// S3 may send the status 200 before it knows the outcome, and then an error in the body.
	var out struct {
		XMLName xml.Name
		apiError
	}
	query := url.Values{"uploadId": {upload}}
	_, err = c.callAndDecode(ctx, request{method: http.MethodPost, key: key, query: query, content: text}, &out)
	if err == nil && out.XMLName.Local == "Error" {
		out.Status = http.StatusInternalServerError
		return &out.apiError
	}
	return err
}

func (c *client) abortUpload(ctx context.Context, key, upload string) error {
	query := url.Values{"uploadId": {upload}}
	_, err := c.callAndDecode(ctx, request{method: http.MethodDelete, key: key, query: query}, nil)
	return err
}

// maxPages bounds how many pages of a list are read, so that a broken store cannot keep it busy for ever.
const maxPages = 1000

// errTooManyPages says that a list has not ended after maxPages.
var errTooManyPages = errors.New("s3: the store's list does not end")

// listUploads finds the multipart uploads of a key that have not ended.
func (c *client) listUploads(ctx context.Context, key string) (ids []string, err error) {
	query := url.Values{"uploads": {""}, "prefix": {key}}
	for range maxPages {
		var out struct {
			Upload []struct {
				Key      string
				UploadID string `xml:"UploadId"`
			}
			IsTruncated        bool
			NextKeyMarker      string
			NextUploadIDMarker string `xml:"NextUploadIdMarker"`
		}
		if _, err := c.callAndDecode(ctx, request{method: http.MethodGet, query: query}, &out); err != nil {
			return nil, err
		}
		for _, u := range out.Upload {
			if u.Key == key { // the prefix also finds longer keys
				ids = append(ids, u.UploadID)
			}
		}
		// Keys are sorted, so the longer ones come later.
		if !out.IsTruncated || out.NextKeyMarker != key {
			return ids, nil
		}
		query.Set("key-marker", out.NextKeyMarker)
		query.Set("upload-id-marker", out.NextUploadIDMarker)
	}
	return nil, errTooManyPages
}

// listKeys finds the keys that begin with a prefix.
func (c *client) listKeys(ctx context.Context, prefix string) (keys []string, err error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	for range maxPages { // of 1,000 keys
		var out struct {
			Contents []struct {
				Key string
			}
			IsTruncated           bool
			NextContinuationToken string
		}
		if _, err := c.callAndDecode(ctx, request{method: http.MethodGet, query: query}, &out); err != nil {
			return nil, err
		}
		for _, o := range out.Contents {
			keys = append(keys, o.Key)
		}
		if !out.IsTruncated || out.NextContinuationToken == "" {
			return keys, nil
		}
		query.Set("continuation-token", out.NextContinuationToken)
	}
	return nil, errTooManyPages
}

// apiError is a refusal of the store.
type apiError struct {
	Status  int `xml:"-"`
	Code    string
	Message string
}

func (e *apiError) Error() string { return fmt.Sprintf("s3: %d %s: %s", e.Status, e.Code, e.Message) }

func hasErrorCode(err error, code string) bool {
	var e *apiError
	return errors.As(err, &e) && e.Code == code
}

// maxAnswerBytes bounds how much of an answer is read, except for blobs.
const maxAnswerBytes = 4 << 20

// request is a request to the store, before it is signed.
type request struct {
	method  string
	key     string // of the object; empty for the bucket
	query   url.Values
	header  http.Header
	content []byte
}

// callAndDecode sends a request and reads the answer, which may be nothing, into out.
func (c *client) callAndDecode(ctx context.Context, r request, out any) (http.Header, error) {
	res, err := c.sendWithRetries(ctx, r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if err == nil && out != nil {
		err = xml.Unmarshal(text, out)
	}
	if err != nil {
		return nil, fmt.Errorf("s3: %s: %w", r.method, err)
	}
	return res.Header, nil
}

// maxAttempts is how often a request is sent if the store does not answer, or says that
// it may be sent again.
const maxAttempts = 3

// sendWithRetries sends a request until the answer is final. An error status is an
// *apiError.
func (c *client) sendWithRetries(ctx context.Context, r request) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		res, err := c.sendOnce(ctx, r)
		var refused *apiError
		final := errors.As(err, &refused) && refused.Status < 500 &&
			refused.Status != http.StatusTooManyRequests && refused.Code != "RequestTimeout"
		if err == nil || final || attempt == maxAttempts || ctx.Err() != nil {
			return res, err
		}
		select {
		case <-time.After(time.Duration(attempt) * 300 * time.Millisecond):
		case <-ctx.Done():
			return nil, err
		}
	}
}

func (c *client) sendOnce(ctx context.Context, r request) (*http.Response, error) {
	address := c.base + "/" + r.key
	if r.query != nil {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.content))
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	maps.Copy(req.Header, r.header)
	if r.content != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	keys, err := c.credentials.Retrieve(ctx)
	if err != nil {
		return nil, fmt.Errorf("s3: no keys: %w", err)
	}
	sum := sha256.Sum256(r.content)
	hash := hex.EncodeToString(sum[:])
	req.Header.Set("X-Amz-Content-Sha256", hash)
	if err := c.signer.SignHTTP(ctx, keys, req, hash, "s3", c.region, time.Now()); err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	if res.StatusCode < 300 {
		return res, nil
	}
	defer res.Body.Close()
	refused := &apiError{Status: res.StatusCode}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if err != nil || xml.Unmarshal(text, refused) != nil || refused.Code == "" {
		refused.Code = http.StatusText(res.StatusCode)
	}
	return nil, refused
}
