package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/chromedp/chromedp"
)

// seen is what the page must have seen.
const seen = `{"created":["Ada","Grace","Mary"],"listed":["Ada","Grace","Mary"],"jobTitle":"Analyst","gone":true,` +
	`"invalid":"emails[0].email","canceled":"AbortError","file":"lettér.txt: Dear Ada","secure":false,` +
	`"refusedElsewhere":true}`

// inBrowser has Chromium open a page that imports the client for TypeScript as it
// was compiled, and works with it. The page and the service share an origin, as
// behind a proxy of one's own: the service itself allows no other origin.
func inBrowser(s *server) error {
	key, err := s.organization("Browser", "enterprise")
	if err != nil {
		return err
	}
	client := http.FileServer(http.Dir(filepath.Dir(os.Getenv("CLIENT"))))
	pages := http.NewServeMux()
	pages.Handle("/client/", http.StripPrefix("/client/", client))
	pages.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "browser/page.html")
	})
	service, err := (&raw{s.url, key}).front(func(*http.Request) {})
	if err != nil {
		return err
	}
	defer service.Close()
	pages.Handle("/v1/", service.Config.Handler)
	site := httptest.NewServer(pages)
	defer site.Close()

	// A name of its own, so that the page is no more trusted than any other over http.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("host-resolver-rules", "MAP shop.test 127.0.0.1"), chromedp.ExecPath(os.Getenv("CHROMIUM")))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	at, err := url.Parse(site.URL)
	if err != nil {
		return err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate("http://shop.test:"+at.Port()+"/")); err != nil {
		return err
	}
	saw, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("judge(%q, %q)", key, s.url),
		chromedp.EvalAwaitPromise))
	if err != nil {
		return err
	}
	if saw != seen {
		return fmt.Errorf("the page saw\n%s, want\n%s", saw, seen)
	}
	return nil
}
