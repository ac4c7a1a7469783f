package s3

import (
	"bufio"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
)

// findCredentials takes the configured keys, or those of the machine, in the
// order in which Amazon's own tools look for them: the environment, a role by an
// identity token, the credentials file, the container's role, the machine's role.
func findCredentials(c Config) aws.CredentialsProvider {
	if c.AccessKey != "" {
		return credentials.NewStaticCredentialsProvider(c.AccessKey, c.SecretKey, "")
	}
	if key := os.Getenv("AWS_ACCESS_KEY_ID"); key != "" {
		return credentials.NewStaticCredentialsProvider(
			key, os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))
	}
	if token := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE"); token != "" {
		address := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_STS"), "https://sts."+c.Region+".amazonaws.com")
		return &webIdentity{address: address, role: os.Getenv("AWS_ROLE_ARN"), tokenFile: token}
	}
	if keys := readCredentialsFile(); keys.HasKeys() {
		return credentials.StaticCredentialsProvider{Value: keys}
	}
	if address := containerRoleURL(); address != "" {
		return endpointcreds.New(address, func(o *endpointcreds.Options) {
			o.AuthorizationToken = os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
			if name := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); name != "" {
				// It is replaced from time to time, so it is read each time.
				o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
					text, err := os.ReadFile(name)
					return string(text), err
				})
			}
		})
	}
	return ec2rolecreds.New()
}

// containerRoleURL is where a container gets the keys of its role, or empty. The address is
// that of Amazon's container agent.
func containerRoleURL() string {
	if path := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		return "http://169.254.170.2" + path
	}
	return os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
}

// readCredentialsFile reads the keys of a profile from the credentials file.
func readCredentialsFile() (keys aws.Credentials) {
	home, err := os.UserHomeDir()
	name := os.Getenv("AWS_SHARED_CREDENTIALS_FILE")
	if name == "" && err == nil {
		name = filepath.Join(home, ".aws", "credentials")
	}
	f, err := os.Open(name)
	if err != nil {
		return keys // most machines have none
	}
	defer f.Close()
	profile, section := cmp.Or(os.Getenv("AWS_PROFILE"), "default"), ""
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = strings.TrimSpace(strings.Trim(line, "[]"))
			continue
		}
		field, value, _ := strings.Cut(line, "=")
		if section != profile {
			continue
		}
		switch value = strings.TrimSpace(value); strings.ToLower(strings.TrimSpace(field)) {
		case "aws_access_key_id":
			keys.AccessKeyID = value
		case "aws_secret_access_key":
			keys.SecretAccessKey = value
		case "aws_session_token":
			keys.SessionToken = value
		}
	}
	return keys
}

// webIdentity exchanges a token that the platform keeps in a file for the keys of a
// role. Kubernetes on Amazon works like that. The SDK's client for this one request
// would add a megabyte to the binary.
type webIdentity struct{ address, role, tokenFile string }

func (w *webIdentity) Retrieve(ctx context.Context) (keys aws.Credentials, err error) {
	token, err := os.ReadFile(w.tokenFile)
	if err != nil {
		return keys, err
	}
	form := url.Values{
		"Action":           {"AssumeRoleWithWebIdentity"},
		"Version":          {"2011-06-15"},
		"RoleArn":          {w.role},
		"RoleSessionName":  {"frontdesk"},
		"WebIdentityToken": {strings.TrimSpace(string(token))},
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.address, strings.NewReader(form.Encode()))
	if err != nil {
		return keys, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return keys, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if err != nil {
		return keys, err
	}
	var answer struct {
		Keys struct {
			AccessKeyID     string `xml:"AccessKeyId"`
			SecretAccessKey string
			SessionToken    string
			Expiration      time.Time
		} `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
		Error apiError
	}
	if err := xml.Unmarshal(text, &answer); err != nil {
		return keys, fmt.Errorf("the role's keys: %d: %w", res.StatusCode, err)
	}
	if res.StatusCode != http.StatusOK {
		answer.Error.Status = res.StatusCode
		return keys, fmt.Errorf("the role's keys: %w", &answer.Error)
	}
	k := answer.Keys
	keys = aws.Credentials{AccessKeyID: k.AccessKeyID, SecretAccessKey: k.SecretAccessKey, SessionToken: k.SessionToken,
		CanExpire: true, Expires: k.Expiration}
	if !keys.HasKeys() {
		return keys, errors.New("the role's keys: the answer has none")
	}
	return keys, nil
}
