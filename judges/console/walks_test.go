package console_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// A walk is forty things that somebody at the desk does in any order: type, leave, reload, go back, open a second tab,
// lose the session, send, press twice; and the server is killed in between. No word that was typed is lost, and nothing
// is done twice. JUDGE_WALKS says how many walks, JUDGE_SEED where they begin. make walks runs them: a walk takes ten
// seconds and more, and its second tabs can still lose a word (docs/rough-edges.md).
func TestWalks(t *testing.T) {
	walks, seed := 0, time.Now().UnixNano()
	if n, err := strconv.Atoi(os.Getenv("JUDGE_WALKS")); err == nil {
		walks = n
	}
	if walks == 0 {
		t.Skip("run by make walks")
	}
	if n, err := strconv.ParseInt(os.Getenv("JUDGE_SEED"), 10, 64); err == nil {
		seed = n
	}
	service := serve(t)
	s := open(t)
	setUp(s, service)
	key := allKey(s, service)
	did := map[string]int{}
	var w *walk
	defer func() {
		if t.Failed() && w != nil {
			t.Log(strings.Join(w.story, "\n"))
		}
	}()
	for i := range walks {
		w = &walk{screen: s, service: service, key: key, random: rand.New(rand.NewPCG(uint64(seed), uint64(i))),
			name: fmt.Sprintf("w%dx", i), did: did,
			forms: []*begun{{path: "/tasks/new", api: "/v1/tasks", title: "title", text: "description"},
				{path: "/contacts/new", api: "/v1/contacts", title: "firstName", text: "notes"}}}
		t.Logf("walk %d of seed %d", i, seed)
		w.go40()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d walks: %v", walks, did)
}

// begun is a form and the words that were typed into it since it was last sent.
type begun struct {
	path, api, title, text string
	titleWords, textWords  []string
}

type walk struct {
	*screen
	service *service
	key     string
	random  *rand.Rand
	name    string
	words   int
	forms   []*begun
	sent    []begun
	story   []string // what was done, for whoever looks for the mistake
	did     map[string]int
}

func (w *walk) go40() {
	actions := []struct {
		name   string
		weight int
		do     func()
	}{{"type", 12, w.typeWord}, {"open", 4, func() { w.open(w.anyForm()) }}, {"reload", 4, w.reload},
		{"back", 3, w.back}, {"tab", 2, w.secondTab}, {"expire", 2, w.expire}, {"kill", 1, w.killServer},
		{"send", 4, func() { w.send(1) }}, {"send twice", 2, func() { w.send(2) }}, {"elsewhere", 2, w.elsewhere},
		{"send and kill", 1, w.sendAndKill}}
	sum := 0
	for _, a := range actions {
		sum += a.weight
	}
	for range 40 {
		at := w.random.IntN(sum)
		for _, a := range actions {
			if at -= a.weight; at < 0 {
				w.story = append(w.story, time.Now().Format("04:05.000 ")+a.name)
				if os.Getenv("JUDGE_STORY") != "" {
					w.t.Log(w.story[len(w.story)-1])
				}
				w.did[a.name]++
				a.do()
				break
			}
		}
	}
	w.check()
}

func (w *walk) anyForm() *begun { return w.forms[w.random.IntN(len(w.forms))] }

// open opens a form, and signs in where that is asked for.
func (w *walk) open(f *begun) {
	w.t.Helper()
	w.visit(w.service.URL + f.path)
	w.signInIfAsked()
	if w.path() != f.path {
		w.visit(w.service.URL + f.path)
	}
}

func (w *walk) path() string { return eval[string](w.screen, `location.pathname`) }

// signInIfAsked signs in where the page is the one that asks for it. It reports whether it was.
func (w *walk) signInIfAsked() bool {
	w.t.Helper()
	if !eval[bool](w.screen, `!!document.querySelector("input[type=password]")`) {
		return false
	}
	w.fill("email", "ada@example.com", "password", password)
	w.press("main form button")
	return true
}

// current is the form that the page shows, or nil.
func (w *walk) current() *begun {
	path := w.path()
	for _, f := range w.forms {
		if path == f.path && eval[bool](w.screen, `!!document.querySelector('[name="`+f.title+`"]')`) {
			return f
		}
	}
	return nil
}

func (w *walk) typeWord() {
	f := w.current()
	if f == nil {
		f = w.anyForm()
		w.open(f)
	}
	w.words++
	word := w.name + strconv.Itoa(w.words) + "z" // no word begins another
	field := f.text
	if w.random.IntN(2) == 0 || len(f.titleWords) == 0 {
		field = f.title
		f.titleWords = append(f.titleWords, word)
	} else {
		f.textWords = append(f.textWords, word)
	}
	w.story = append(w.story, "  "+word+" into "+f.path+" "+field)
	// SendKeys would wait for ever for a field that the page has just drawn anew. A word counts as typed when it stands
	// there: keys between two pages go nowhere.
	at := `document.querySelector('#content [name="` + field + `"]')`
	for range 5 {
		w.do(chromedp.Evaluate[chromedp.Void](at+`?.focus()`), chromedp.KeyEvent(" "+word+" "))
		if eval[bool](w.screen, `!!`+at+`?.value.includes("`+word+`")`) {
			return
		}
	}
	w.t.Errorf("%s cannot be typed into %s", word, f.path)
}

func (w *walk) reload() { w.do(chromedp.Reload()); w.signInIfAsked() }

func (w *walk) back() {
	w.do(chromedp.Evaluate[chromedp.Void](`history.back()`), chromedp.Sleep(150*time.Millisecond))
	w.signInIfAsked()
	if !strings.HasPrefix(eval[string](w.screen, `location.href`), w.service.URL) {
		w.visit(w.service.URL + "/")
	}
}

func (w *walk) elsewhere() {
	w.visit(w.service.URL + []string{"/", "/tasks", "/contacts", "/inbox"}[w.random.IntN(4)])
	w.signInIfAsked()
}

func (w *walk) expire() {
	if _, err := chromedp.Call(w.ctx, network.ClearBrowserCookies, cdp.Empty{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *walk) killServer() { w.service.kill(w.t) }

// secondTab has what was typed, and a word more.
func (w *walk) secondTab() {
	f := w.anyForm()
	ctx, cancel := chromedp.NewContext(w.ctx)
	defer cancel()
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context of its first run
		w.t.Fatal(err)
	}
	first := w.screen
	other := *first
	other.ctx = ctx
	w.screen = &other
	w.open(f)
	w.expect(f)
	w.typeWord()
	time.Sleep(time.Second) // it saves itself
	w.screen = first
}

// send sends the form of the page, by one press or two.
func (w *walk) send(times int) {
	f := w.current()
	if f == nil || len(f.titleWords) == 0 {
		return
	}
	w.expect(f)
	w.pressSend(times)
	w.arrive(f)
}

func (w *walk) pressSend(times int) {
	for range times {
		w.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#content form .send button.main").click()`))
	}
}

// arrive waits until a form that was sent is carried out, signs in on the way if need be, and presses again where
// the server did not answer.
func (w *walk) arrive(f *begun) {
	w.t.Helper()
	for tries := range 200 {
		time.Sleep(50 * time.Millisecond)
		if w.signInIfAsked() {
			continue
		}
		if path := w.path(); path != f.path && strings.HasPrefix(path, strings.TrimSuffix(f.path, "new")) {
			w.sent = append(w.sent, *f)
			w.story = append(w.story, "  sent "+strings.Join(f.titleWords, " "))
			f.titleWords, f.textWords = nil, nil
			return
		}
		if tries%40 == 39 && w.current() == f {
			w.pressSend(1)
		}
	}
	w.t.Errorf("%s was not carried out: %s", f.path, w.text())
}

// sendAndKill kills the server while it is carrying out a form, looks at the page again, and sends it again if it is
// still there.
func (w *walk) sendAndKill() {
	f := w.current()
	if f == nil || len(f.titleWords) == 0 {
		return
	}
	w.expect(f)
	w.pressSend(1)
	time.Sleep(time.Duration(w.random.IntN(30)) * time.Millisecond)
	w.service.kill(w.t)
	if w.random.IntN(2) == 0 {
		w.open(f)
		for range 40 {
			if w.shows(f) {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		if !w.shows(f) { // it was carried out before
			w.sent = append(w.sent, *f)
			f.titleWords, f.textWords = nil, nil
			return
		}
		w.pressSend(1)
	}
	w.arrive(f)
}

// shows reports whether the page has all the words of a form.
func (w *walk) shows(f *begun) bool {
	value := func(name string) string {
		return eval[string](w.screen, `document.querySelector('#content [name="`+name+`"]')?.value || ""`)
	}
	return hasWords(value(f.title), f.titleWords) && hasWords(value(f.text), f.textWords)
}

func hasWords(text string, words []string) bool {
	text = " " + strings.Join(strings.Fields(text), " ") + " "
	for _, word := range words {
		if !strings.Contains(text, " "+word+" ") {
			return false
		}
	}
	return true
}

// expect insists that the page has all the words of a form, soon.
func (w *walk) expect(f *begun) {
	w.t.Helper()
	for range 100 {
		if w.shows(f) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	w.t.Errorf("%s lost some of %v %v: %s", f.path, f.titleWords, f.textWords,
		eval[string](w.screen,
			`[...document.querySelectorAll("#content input, #content textarea")].map(`+
				`e => e.name + "=" + e.value).join("; ")`))
}

// check looks at all that was typed: it is in a form, or in a record, and in one alone.
func (w *walk) check() {
	w.t.Helper()
	for _, f := range w.forms {
		w.open(f)
		w.expect(f)
		w.do(chromedp.Evaluate[chromedp.Void](
			`document.querySelectorAll("#content form.sheet-form :is(input:not([type=hidden]), textarea)").forEach(` +
				`e => { if (e.type !== "checkbox") e.value = "" })`))
		if len(f.titleWords) > 0 {
			w.press(".draft-note button")
		}
	}
	for _, f := range w.sent {
		answer := get(w.t, w.service.URL+f.api+"?limit=100&query="+url.QueryEscape(f.titleWords[0]), w.key)
		if n := strings.Count(answer, `"deletedAt"`); strings.Count(answer, f.titleWords[0]) < 1 || n < 1 {
			w.t.Errorf("%v is nowhere: %s", f.titleWords, answer)
		}
		if n := strings.Count(answer, `"`+f.title+`":"`); n != 1 {
			w.t.Errorf("%v is there %d times: %s", f.titleWords, n, answer)
		}
		for _, word := range append(f.titleWords, f.textWords...) {
			if !strings.Contains(answer, word) {
				w.t.Errorf("%s is lost: %s", word, answer)
			}
		}
	}
}
