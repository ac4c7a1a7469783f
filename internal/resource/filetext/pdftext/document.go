package pdftext

import (
	"bytes"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/hex"
	"io"
	"slices"

	"golang.org/x/image/tiff/lzw"
)

// document is the file: its objects by their numbers.
type document struct {
	data      []byte
	objects   map[int]any
	fonts     map[int]*font // by the number of their object
	budget    budget
	root      any // the catalog, or a reference to it
	encrypted bool
}

func (d *document) parse(data []byte) *parser { return &parser{data: data, budget: &d.budget} }

// findObjects reads all objects, from the beginning of the file to its end. Of several
// with the same number the last one counts: that is how a file is changed by
// appending to it.
func (d *document) findObjects() {
	p := d.parse(d.data)
	var last [2]any // the two values before this one: the number and the generation of an object
	for {
		p.values = 0
		v, ok := p.next(0)
		if !ok {
			return
		}
		switch v {
		case word("obj"):
			if num, ok := last[0].(float64); ok && num >= 0 && num < 1e9 {
				d.readObject(p, int(num))
			}
		case word("trailer"):
			if t, ok := p.next(0); ok {
				if t, ok := t.(dict); ok {
					d.readTrailer(t)
				}
			}
		}
		last[0], last[1] = last[1], v
	}
}

// readObject reads the value of an object, with the bytes of a stream.
func (d *document) readObject(p *parser, num int) {
	p.values = 0
	v, ok := p.next(0)
	if !ok || v == word("endobj") {
		return
	}
	d.budget.keep(p.values + 1)
	meta, ok := v.(dict)
	if !ok {
		d.objects[num] = v
		return
	}
	before := p.at
	if next, ok := p.next(0); !ok || next != word("stream") {
		p.at = before
		d.objects[num] = v
		return
	}
	s := &stream{meta, d.streamBytes(p, meta)}
	d.objects[num] = s
	switch meta["Type"] {
	case name("ObjStm"):
		d.readObjectStream(s)
	case name("XRef"):
		d.readTrailer(meta)
	}
}

// streamBytes takes the bytes of a stream. The length that the file states is believed only if the stream ends there.
func (d *document) streamBytes(p *parser, meta dict) []byte {
	if p.follows("\r\n") {
		p.at += 2
	} else if p.follows("\n") || p.follows("\r") {
		p.at++
	}
	rest := d.data[p.at:]
	end := -1
	if n, ok := meta["Length"].(float64); ok && n >= 0 && n <= float64(len(rest)) {
		if bytes.HasPrefix(bytes.TrimLeft(rest[int(n):min(len(rest), int(n)+20)], "\r\n \t"), []byte("endstream")) {
			end = int(n)
		}
	}
	if end < 0 {
		if end = bytes.Index(rest, []byte("endstream")); end < 0 {
			end = len(rest)
		}
		d.budget.spend(end)
	}
	p.at += end
	return rest[:end]
}

func (d *document) readTrailer(t dict) {
	d.encrypted = d.encrypted || t["Encrypt"] != nil && t["Encrypt"] != word("null")
	if t["Root"] != nil {
		d.root = t["Root"]
	}
}

// readObjectStream reads the objects that are inside of a stream (7.5.7): first come pairs of their numbers and
// places, then they themselves.
func (d *document) readObjectStream(s *stream) {
	data := d.decode(s)
	first, _ := s.dict["First"].(float64)
	count, _ := s.dict["N"].(float64)
	head := d.parse(data)
	for range int(min(max(count, 0), maxOperands)) {
		head.values = 0
		num, ok1 := head.next(0)
		at, ok2 := head.next(0)
		n, isNumber := num.(float64)
		place, isPlace := at.(float64)
		if !ok1 || !ok2 || !isNumber || !isPlace || n < 0 || n >= 1e9 {
			return
		}
		if place += first; place < 0 || place >= float64(len(data)) {
			continue
		}
		body := d.parse(data)
		body.at = int(place)
		if v, ok := body.next(0); ok {
			d.budget.keep(body.values + 1)
			d.objects[int(n)] = v
		}
	}
}

// get follows a reference. A chain of them ends with nil.
func (d *document) get(v any) any {
	if r, ok := v.(ref); ok {
		v = d.objects[int(r)]
		if _, again := v.(ref); again {
			return nil
		}
	}
	return v
}

func (d *document) dict(v any) dict {
	switch v := d.get(v).(type) {
	case dict:
		return v
	case *stream:
		return v.dict
	}
	return nil
}

func (d *document) array(v any) array {
	out, _ := d.get(v).(array)
	return out
}

func (d *document) number(v any, otherwise float64) float64 {
	if n, ok := d.get(v).(float64); ok {
		return n
	}
	return otherwise
}

// decode is the content of a stream. What is encoded in a way that only pictures are is empty.
func (d *document) decode(s *stream) []byte {
	filters := d.array(s.dict["Filter"])
	if filters == nil && s.dict["Filter"] != nil {
		filters = array{s.dict["Filter"]}
	}
	if len(filters) > 4 {
		return nil
	}
	data := s.raw
	for _, f := range filters {
		var r io.Reader
		var err error
		switch d.get(f) {
		case name("FlateDecode"), name("Fl"):
			r, err = zlib.NewReader(bytes.NewReader(data))
		case name("LZWDecode"), name("LZW"):
			r = lzw.NewReader(bytes.NewReader(data), lzw.MSB, 8)
		case name("ASCII85Decode"), name("A85"):
			data, _, _ = bytes.Cut(data, []byte("~>"))
			r = ascii85.NewDecoder(bytes.NewReader(data))
		case name("ASCIIHexDecode"), name("AHx"):
			data, _, _ = bytes.Cut(data, []byte(">"))
			r = hex.NewDecoder(bytes.NewReader(slices.DeleteFunc(slices.Clone(data), isSpace)))
		default:
			return nil
		}
		if err != nil {
			return nil
		}
		// A stream that breaks off is read as far as it goes. One byte more than allowed tells that it is too long.
		data, _ = io.ReadAll(io.LimitReader(r, int64(min(maxInflated, d.budget.work)+1)))
		d.budget.spend(len(data))
		if len(data) > maxInflated {
			panic(errBudget{})
		}
	}
	return data
}

// page is one page, with the resources that its content names.
type page struct {
	dict      dict
	resources dict
}

// listPages lists the pages in their order.
func (d *document) listPages() (pages []page) {
	catalog := d.dict(d.root)
	if catalog == nil || catalog["Pages"] == nil {
		for _, v := range d.objects { // the trailer is lost
			if c := d.dict(v); c["Type"] == name("Catalog") && c["Pages"] != nil {
				catalog = c
			}
		}
	}
	seen := map[ref]bool{}
	var walk func(v any, resources dict, depth int)
	walk = func(v any, resources dict, depth int) {
		d.budget.spend(1)
		if r, ok := v.(ref); ok {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		node := d.dict(v)
		if node == nil || depth > maxDepth || len(pages) == maxPages {
			return
		}
		if own := d.dict(node["Resources"]); own != nil {
			resources = own
		}
		if kids := d.array(node["Kids"]); kids != nil {
			for _, kid := range kids {
				walk(kid, resources, depth+1)
			}
			return
		}
		pages = append(pages, page{node, resources})
	}
	walk(catalog["Pages"], nil, 0)
	return pages
}

// pageContent is the content of a page, which may be in several streams.
func (d *document) pageContent(p page) (out []byte) {
	parts := d.array(p.dict["Contents"])
	if parts == nil {
		parts = array{p.dict["Contents"]}
	}
	for _, part := range parts {
		if s, ok := d.get(part).(*stream); ok {
			out = append(append(out, d.decode(s)...), '\n')
		}
		if len(out) > maxInflated {
			panic(errBudget{})
		}
	}
	return out
}
