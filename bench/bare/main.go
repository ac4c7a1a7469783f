// Command bare is a net/http server that does nothing but read a request and
// answer with a JSON text of a given length: the most that any service on
// net/http could do on the same machine.
package main

import (
	"flag"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8081", "address")
	get := flag.Int("get", 500, "bytes of a contact")
	list := flag.Int("list", 5000, "bytes of a list of ten")
	create := flag.Int("create", 500, "bytes of a created contact")
	flag.Parse()
	one, many, made := answer(http.StatusOK, *get), answer(http.StatusOK, *list), answer(http.StatusCreated, *create)
	h := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			made(w)
		case r.URL.RawQuery != "":
			many(w)
		default:
			one(w)
		}
	}
	log.Fatal(http.ListenAndServe(*listen, http.HandlerFunc(h))) //nolint:gosec // loopback, for minutes
}

// answer makes a writer of n bytes of JSON.
func answer(status, n int) func(http.ResponseWriter) {
	const open, end = `{"data":"`, `"}`
	body := []byte(open + strings.Repeat("x", max(n-len(open)-len(end), 0)) + end)
	length := strconv.Itoa(len(body))
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", length)
		w.WriteHeader(status)
		w.Write(body) //nolint:errcheck // the client is gone
	}
}
