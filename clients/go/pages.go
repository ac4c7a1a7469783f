package frontdesk

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Page is one page of a list.
type Page[T any] struct {
	Data       []T
	Limit      int     `json:"limit"`
	Offset     int     `json:"offset"`
	Total      *int    `json:"total"` // only where it costs the server nothing to know
	HasMore    bool    `json:"hasMore"`
	NextCursor *string `json:"nextCursor"` // only in a walk with cursor
}

func page[T any](ctx context.Context, c *caller, path string, query url.Values, options []Option) (*Page[T], error) {
	out := &Page[T]{}
	err := c.send(ctx, Request{Method: http.MethodGet, Path: path, Query: query}, options,
		func(answer *http.Response) error {
			body := struct {
				Data *[]T `json:"data"`
				Meta struct {
					Pagination *Page[T] `json:"pagination"`
				} `json:"meta"`
			}{Data: &out.Data}
			body.Meta.Pagination = out
			return decode(answer, &body)
		})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Pages goes through a list that the generated methods do not know, page by
// page. A list that takes a cursor is walked by it: that costs the same however
// deep, and skips nothing when rows are added meanwhile.
func (c *caller) Pages(ctx context.Context, path string, query url.Values, cursor bool, options ...Option) iter.Seq2[
	*Page[json.RawMessage], error] {
	return pages[json.RawMessage](ctx, c, path, query, cursor, options)
}

func pages[T any](ctx context.Context, c *caller, path string, query url.Values, cursor bool,
	options []Option) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		query := maps.Clone(query)
		if query == nil {
			query = url.Values{}
		}
		if !query.Has("limit") {
			query.Set("limit", "100")
		}
		if cursor && !query.Has("offset") && !query.Has("cursor") {
			query.Set("cursor", "first")
		}
		for {
			p, err := page[T](ctx, c, path, query, options)
			if !yield(p, err) || err != nil {
				return
			}
			switch {
			case p.NextCursor != nil:
				query.Set("cursor", *p.NextCursor)
			case query.Has("cursor") || !p.HasMore || len(p.Data) == 0:
				return
			default:
				query.Set("offset", strconv.Itoa(p.Offset+len(p.Data)))
			}
		}
	}
}

func all[T any](ctx context.Context, c *caller, path string, query url.Values, cursor bool,
	options []Option) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for p, err := range pages[T](ctx, c, path, query, cursor, options) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, v := range p.Data {
				if !yield(v, nil) {
					return
				}
			}
		}
	}
}

// queryOf writes the fields of a struct that are set. A list has commas.
func queryOf(params any) url.Values {
	out := url.Values{}
	v := reflect.ValueOf(params)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if text := queryText(v.Field(i).Interface()); text != "" {
			out.Set(name, text)
		}
	}
	return out
}

func queryText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		return strings.Join(v, ",")
	case int64:
		if v != 0 {
			return strconv.FormatInt(v, 10)
		}
	case time.Time:
		if !v.IsZero() {
			return v.Format(time.RFC3339Nano)
		}
	case Opt[bool]:
		if b, ok := v.Get(); ok {
			return strconv.FormatBool(b)
		}
	default:
		panic(fmt.Sprintf("frontdesk: a query cannot have a %T", v)) // a mistake of the generator
	}
	return ""
}

// settled repeats a get that can wait, until the status is one that stays.
func settled[T any](ctx context.Context, get func(waitSeconds int64) (*T, error), status func(*T) string) (*T, error) {
	for {
		v, err := get(45)
		if err != nil || !slices.Contains([]string{"pending", "approved", "executing"}, status(v)) {
			return v, err
		}
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
	}
}
