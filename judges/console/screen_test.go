package console_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// screen is a browser, and what inspects its pages.
type screen struct {
	t     *testing.T
	ctx   context.Context
	axe   string
	shots string // the folder for pictures; empty means none
	seen  []string
}

func open(t *testing.T) *screen {
	t.Helper()
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("hide-scrollbars", true))
	if path := os.Getenv("CHROMIUM"); path != "" {
		options = append(options, chromedp.ExecPath(path))
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 30*time.Minute)
	t.Cleanup(cancel)
	s := &screen{t: t, ctx: ctx, axe: string(axe), shots: os.Getenv("FRONTDESK_SHOTS")}
	// The first run starts the browser, which lives as long as that run's context.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	s.size(1280, "light")
	return s
}

func (s *screen) do(actions ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		at, _ := chromedp.Run(s.ctx, chromedp.Location())
		shows, _ := chromedp.Run(s.ctx, chromedp.Evaluate[string](`document.body.innerText`))
		s.t.Fatalf("at %s: %v: %s", at, err, shows)
	}
}

func eval[T any](s *screen, script string) T {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, 2*time.Minute)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *screen) size(width int64, scheme string) {
	s.t.Helper()
	s.do(chromedp.EmulateViewport(width, 900))
	_, err := chromedp.Call(s.ctx, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}) // colours are there at once
	if err != nil {
		s.t.Fatal(err)
	}
}

// visit goes to an address. The browser aborts a load when the page before is still going somewhere: then again.
func (s *screen) visit(address string) {
	s.t.Helper()
	err := chromedp.Do(s.ctx, chromedp.Navigate(address))
	if err != nil && strings.Contains(err.Error(), "ERR_ABORTED") {
		err = chromedp.Do(s.ctx, chromedp.Navigate(address))
	}
	if err != nil {
		s.t.Fatalf("%s: %v", address, err)
	}
}

// press clicks an element that opens another page, and waits for that page.
func (s *screen) press(selector string) {
	s.t.Helper()
	// A page comes with a load, or takes the place of the other one.
	before := eval[string](s, `document.documentElement.dataset.shown || ""`)
	s.do(chromedp.Evaluate[chromedp.Void](`window.stale = true`), chromedp.Click(chromedp.CSS(selector)))
	for range 1200 {
		fresh, err := chromedp.Run(s.ctx, chromedp.Evaluate[bool](`document.readyState === "complete" &&
			(!window.stale || (document.documentElement.dataset.shown || "") !== "`+before+`")`))
		if err == nil && fresh {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("%s leads nowhere", selector)
}

// fill types into fields, in pairs of name and text.
func (s *screen) fill(pairs ...string) {
	s.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		at := `[name="` + pairs[i] + `"]`
		s.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('`+at+`').value = ""`),
			chromedp.SendKeys(chromedp.CSS(at), pairs[i+1]))
	}
}

// focused waits until a field has the focus, which a browser sets a moment after
// the page has loaded: what is typed before is lost.
func (s *screen) focused(name string) {
	s.t.Helper()
	for range 1200 {
		if eval[bool](s, `document.activeElement.name === "`+name+`"`) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.t.Fatalf("%s has no focus", name)
}

func (s *screen) text() string { return eval[string](s, `document.body.innerText`) }

// has insists on texts, which a page that has just loaded may show a moment later.
func (s *screen) has(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		for tries := 0; !strings.Contains(s.text(), text); tries++ {
			if tries == 200 {
				at, _ := chromedp.Run(s.ctx, chromedp.Location())
				s.t.Fatalf("no %q at %s: %s", text, at, s.text())
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// audit is what axe-core found.
type audit struct {
	Violations []struct {
		ID, Impact, Help string
		Nodes            []struct {
			HTML           string
			FailureSummary string
		}
	}
}

// inspect checks the page on large and small screens, light and dark: axe-core
// finds nothing serious, nothing scrolls sideways, and no text is cut off. The
// pictures are for people.
func (s *screen) inspect(name string) {
	s.t.Helper()
	s.seen = append(s.seen, name)
	defer s.size(1280, "light")
	for _, width := range []int64{1280, 390, 1920} {
		for _, scheme := range []string{"light", "dark"} {
			if width == 1920 && scheme == "dark" {
				continue // it differs in nothing that either alone does not show
			}
			s.size(width, scheme)
			where := fmt.Sprintf("%s at %d px, %s", name, width, scheme)
			if over := eval[int](s, `document.documentElement.scrollWidth - window.innerWidth`); over > 0 {
				s.t.Errorf("%s: %d px wider than the screen", where, over)
			}
			for _, cut := range eval[[]string](s, cutOff) {
				s.t.Errorf("%s: cut off: %s", where, cut)
			}
			// axe-core takes longer than all the rest. It sees each width and each scheme once: colours do not depend
			// on the width, nor does anything else on the scheme.
			if width == 1280 && scheme == "light" || width == 390 && scheme == "dark" {
				s.runAxe(where)
			}
			s.shoot(fmt.Sprintf("%s-%d-%s.png", name, width, scheme))
		}
	}
}

// runAxe has axe-core look at the page. What is serious fails the test.
func (s *screen) runAxe(where string) {
	s.t.Helper()
	s.do(chromedp.Evaluate[chromedp.Void](s.axe))
	found := eval[audit](s,
		`axe.run(document, {resultTypes: ["violations"]}).then(r => ({Violations: r.violations.map(v =>
				({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map(n => ({HTML: n.html,
					FailureSummary: n.failureSummary}))}))}))`)
	for _, v := range found.Violations {
		report := s.t.Logf
		if v.Impact == "serious" || v.Impact == "critical" {
			report = s.t.Errorf
		}
		report("%s: %s (%s): %s\n%s\n%s", where, v.ID, v.Impact, v.Help, v.Nodes[0].HTML,
			v.Nodes[0].FailureSummary)
	}
}

// cutOff finds text that is wider than its element.
const cutOff = `[...document.querySelectorAll("main *, header *")].filter(e => e.clientWidth > 0 &&
	e.scrollWidth > e.clientWidth + 1 &&
	!e.closest(".hide, .paper, pre, .tools, .tabs") && getComputedStyle(e).textOverflow !== "ellipsis" &&
	getComputedStyle(e).overflowX !== "visible" && e.tagName !== "INPUT" &&
		e.tagName !== "SELECT").map(e => e.outerHTML.slice(0, 120))`

func (s *screen) shoot(file string) {
	s.t.Helper()
	if s.shots == "" {
		return
	}
	// The whole page, as tall as it is: a bar that sticks to the bottom would
	// otherwise cover its middle.
	width, height := eval[int64](s, `window.innerWidth`), eval[int64](s, `document.documentElement.scrollHeight`)
	s.do(chromedp.EmulateViewport(width, max(height, 900)))
	picture, err := chromedp.Run(s.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.shots, file), picture, 0o644); err != nil {
		s.t.Fatal(err)
	}
}
