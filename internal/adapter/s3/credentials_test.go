package s3

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Without keys in the settings, those of the machine are found where Amazon's
// own tools find them.
func TestMachineCredentials(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		switch {
		case r.URL.Path == "/container" && r.Header.Get("Authorization") == "container token":
			fmt.Fprintf(w, `{"AccessKeyId": "C", "SecretAccessKey": "s", "Token": "t", "Expiration": %q}`, soon)
		case r.FormValue("WebIdentityToken") == "a token" && r.FormValue("RoleArn") == "arn:role":
			fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
				<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>W</AccessKeyId>
				<SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>%s</Expiration>
				</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, soon)
		default:
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w,
				`<ErrorResponse><Error><Code>AccessDenied</Code><Message>No.</Message></Error></ErrorResponse>`)
		}
	}))
	defer server.Close()
	file := write("credentials", "[other]\naws_access_key_id = O\naws_secret_access_key = s\n\n"+
		"[default]\naws_access_key_id = F\naws_secret_access_key=s\naws_session_token = t\n")
	token := write("token", "a token\n")
	for name, c := range map[string]struct {
		environment map[string]string
		want        string
	}{
		"environment": {map[string]string{
			"AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t",
			"AWS_SHARED_CREDENTIALS_FILE": file,
		}, "E s t"},
		"file":    {map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file}, "F s t"},
		"profile": {map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_PROFILE": "other"}, "O s "},
		"identity token": {map[string]string{
			"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:role", "AWS_ENDPOINT_URL_STS": server.URL,
		}, "W s t"},
		"identity token of another role": {map[string]string{
			"AWS_WEB_IDENTITY_TOKEN_FILE": token, "AWS_ROLE_ARN": "arn:another", "AWS_ENDPOINT_URL_STS": server.URL,
		}, "403 AccessDenied: No."},
		"container": {map[string]string{
			"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/container",
			"AWS_CONTAINER_AUTHORIZATION_TOKEN":  "container token",
		}, "C s t"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range os.Environ() {
				if key, _, _ := strings.Cut(v, "="); strings.HasPrefix(key, "AWS_") {
					t.Setenv(key, "")
				}
			}
			t.Setenv("HOME", dir)
			for key, value := range c.environment {
				t.Setenv(key, value)
			}
			keys, err := findCredentials(Config{Region: "eu-central-1"}).Retrieve(context.Background())
			got := strings.Join([]string{keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken}, " ")
			if err != nil {
				got = err.Error()
			}
			if !strings.HasSuffix(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestBucketURL(t *testing.T) {
	for want, c := range map[string]Config{
		"https://files.s3.eu-central-1.amazonaws.com":    {Bucket: "files", Region: "eu-central-1"},
		"https://s3.eu-central-1.amazonaws.com/my.files": {Bucket: "my.files", Region: "eu-central-1"},
		"https://files.s3.cn-north-1.amazonaws.com.cn":   {Bucket: "files", Region: "cn-north-1"},
		"http://127.0.0.1:9000/files":                    {Bucket: "files", Endpoint: "http://127.0.0.1:9000/"},
	} {
		if got := bucketURL(c); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
