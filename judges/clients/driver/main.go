// Command driver does what each line of standard input says with the client for
// Go, and answers with a line. See driver.go of the judge for the words.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	frontdesk "frontdesk.example/go"
)

type step struct {
	Do      string            `json:"do"`
	Call    string            `json:"call"`
	Path    []string          `json:"path"`
	Input   json.RawMessage   `json:"input"`
	Query   json.RawMessage   `json:"query"`
	Options options           `json:"options"`
	Via     options           `json:"via"`
	File    string            `json:"file"`
	Name    string            `json:"name"`
	Text    string            `json:"text"`
	Body    string            `json:"body"`
	Headers map[string]string `json:"headers"`
	Secret  string            `json:"secret"`
	N       int               `json:"n"`
	From    int               `json:"from"`
}

type options struct {
	BaseURL        string `json:"baseUrl"`
	APIKey         string `json:"apiKey"`
	MaxRetries     *int   `json:"maxRetries"`
	RetryDelay     int    `json:"retryDelay"`
	Timeout        int    `json:"timeout"`
	IdempotencyKey string `json:"idempotencyKey"`
	IfMatch        string `json:"ifMatch"`
}

func (o options) list() (out []frontdesk.Option) {
	if o.MaxRetries != nil {
		out = append(out, frontdesk.WithMaxRetries(*o.MaxRetries))
	}
	if o.RetryDelay > 0 {
		out = append(out, frontdesk.WithRetryDelay(time.Duration(o.RetryDelay)*time.Millisecond))
	}
	if o.Timeout > 0 {
		out = append(out, frontdesk.WithTimeout(time.Duration(o.Timeout)*time.Millisecond))
	}
	if o.IdempotencyKey != "" {
		out = append(out, frontdesk.WithIdempotencyKey(o.IdempotencyKey))
	}
	if o.IfMatch != "" {
		out = append(out, frontdesk.WithIfMatch(o.IfMatch))
	}
	return out
}

func main() {
	in := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var s step
		if err := json.Unmarshal(line, &s); err != nil {
			panic(err)
		}
		client := frontdesk.New(s.Via.BaseURL, s.Via.APIKey, s.Via.list()...)
		answer := map[string]any{}
		if data, err := do(context.Background(), client, s); err != nil {
			answer["error"] = describe(err)
		} else {
			answer["data"] = data
		}
		if err := out.Encode(answer); err != nil {
			panic(err)
		}
	}
}

func do(ctx context.Context, client *frontdesk.Client, s step) (any, error) {
	switch s.Do {
	case "call":
		return call(ctx, client, s, "", s.Options.list()...)
	case "etag":
		var r frontdesk.Response
		_, err := call(ctx, client, s, "", frontdesk.WithResponse(&r))
		return r.Header.Get("ETag"), err
	case "page":
		return page(call(ctx, client, s, ""))
	case "all":
		return collect(call(ctx, client, s, "All"))
	case "upload":
		file, err := os.Open(s.File)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return client.Files.Upload(ctx, frontdesk.FileUploadInput{File: frontdesk.Upload{Name: s.Name, Reader: file}})
	case "stream":
		pieces := io.MultiReader(slices.Collect(func(yield func(io.Reader) bool) {
			for _, word := range strings.Split(s.Text, " ") {
				yield(strings.NewReader(word))
			}
		})...)
		return client.Files.Upload(ctx, frontdesk.FileUploadInput{File: frontdesk.Upload{Name: s.Name, Reader: pieces}})
	case "download":
		answer, err := call(ctx, client, s, "")
		if err != nil {
			return nil, err
		}
		file := answer.(*frontdesk.Download)
		defer file.Close()
		content, err := io.ReadAll(file)
		return map[string]any{"name": file.Name, "type": file.ContentType, "text": string(content[:5]),
			"size": len(content) > 0}, err
	case "verify":
		h := http.Header{}
		for name, value := range s.Headers {
			h.Set(name, value)
		}
		return frontdesk.VerifyWebhook([]byte(s.Body), h, s.Secret)
	case "wait":
		return client.Proposals.Wait(ctx, s.Path[0])
	case "hammer":
		for i := range s.N {
			if _, err := client.Contacts.Create(ctx, frontdesk.ContactCreateInput{
				FirstName: frontdesk.Set(fmt.Sprintf("H-%d", s.From+i))}); err != nil {
				return nil, err
			}
		}
		return s.N, nil
	case "bench":
		return bench(ctx, client, s)
	}
	return nil, errors.New("no such verb: " + s.Do)
}

// call finds a method by its name and calls it.
func call(ctx context.Context, client *frontdesk.Client, s step, suffix string, options ...frontdesk.Option) (any,
	error) {
	words := strings.Split(strings.ReplaceAll(s.Call, "_", ""), ".")
	at := reflect.ValueOf(client)
	for _, word := range words[:len(words)-1] {
		at = at.Elem().FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, word) })
	}
	var method reflect.Value
	for i := range at.NumMethod() {
		if strings.EqualFold(at.Type().Method(i).Name, words[len(words)-1]+suffix) {
			method = at.Method(i)
		}
	}
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for _, p := range s.Path {
		args = append(args, reflect.ValueOf(p))
	}
	if len(args) < method.Type().NumIn()-1 {
		input := reflect.New(method.Type().In(len(args)))
		for _, text := range []json.RawMessage{s.Input, s.Query} {
			if text != nil {
				d := json.NewDecoder(bytes.NewReader(text))
				d.DisallowUnknownFields()
				if err := d.Decode(input.Interface()); err != nil {
					return nil, err
				}
			}
		}
		args = append(args, input.Elem())
	}
	for _, o := range options {
		args = append(args, reflect.ValueOf(o))
	}
	out := method.Call(args)
	if len(out) == 1 && suffix != "" {
		return out[0].Interface(), nil
	}
	err, _ := out[len(out)-1].Interface().(error)
	if err != nil || len(out) == 1 {
		return nil, err
	}
	return out[0].Interface(), nil
}

// page is a page as the other languages print it.
func page(v any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	at := reflect.ValueOf(v).Elem()
	return map[string]any{"data": at.FieldByName("Data").Interface(), "limit": at.FieldByName("Limit").Interface(),
		"offset": at.FieldByName("Offset").Interface(), "hasMore": at.FieldByName("HasMore").Interface(),
		"total": at.FieldByName("Total").Interface()}, nil
}

// collect goes through an iterator.
func collect(v any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	out := []any{}
	for row, failed := range reflect.ValueOf(v).Seq2() {
		if e, ok := failed.Interface().(error); ok && e != nil {
			return nil, e
		}
		out = append(out, row.Interface())
	}
	return out, nil
}

func bench(ctx context.Context, client *frontdesk.Client, s step) (any, error) {
	bare := func() error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv("FRONTDESK_URL")+"/v1/contacts/"+s.Path[0],
			nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+os.Getenv("FRONTDESK_API_KEY"))
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		var out struct{ Data frontdesk.Contact }
		return json.NewDecoder(answer.Body).Decode(&out)
	}
	ours := func() error {
		_, err := client.Contacts.Get(ctx, s.Path[0], frontdesk.ContactGetParams{})
		return err
	}
	times := [2][]float64{}
	for i := range s.N {
		for k := range 2 {
			which := (i + k) % 2
			began := time.Now()
			if err := []func() error{ours, bare}[which](); err != nil {
				return nil, err
			}
			times[which] = append(times[which], float64(time.Since(began))/1000)
		}
	}
	median := func(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }
	return map[string]float64{"ours": median(times[0]), "bare": median(times[1])}, nil
}

func describe(err error) any {
	var e *frontdesk.Error
	var lost *frontdesk.ConnectionError
	switch {
	case errors.As(err, &e):
		return map[string]any{"kind": "api", "status": e.Status, "code": e.Code, "fields": e.Fields(),
			"requestId": e.RequestID != "", "retryAfter": e.RetryAfter > 0}
	case errors.Is(err, context.DeadlineExceeded):
		return map[string]any{"kind": "timeout"}
	case errors.As(err, &lost):
		return map[string]any{"kind": "connection"}
	case errors.Is(err, frontdesk.ErrWebhook):
		return map[string]any{"kind": "webhook"}
	}
	return map[string]any{"kind": "unexpected: " + err.Error()}
}
