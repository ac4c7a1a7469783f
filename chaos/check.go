package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// each visits all rows of a list.
func (l *load) each(ctx context.Context, key, path string, fn func(map[string]any)) error {
	for cursor := "first"; cursor != ""; {
		a, ok := l.insist(ctx, get(key, path+"limit=100&cursor="+url.QueryEscape(cursor)))
		if !ok {
			return fmt.Errorf("%s: %d %v", path, a.status, a.body)
		}
		for _, row := range a.list {
			fn(row)
		}
		cursor = a.next
	}
	return nil
}

// check compares what the callers remember with what is there.
func (l *load) check(ctx context.Context) error {
	defer l.hooks.Close()
	say("checking")
	there, made := map[string]int{}, map[string]time.Time{}
	err := l.each(ctx, l.keys[0], "/v1/contacts?", func(v map[string]any) {
		name := fmt.Sprint(v["lastName"])
		there[name]++
		made[name] = moment(v["createdAt"])
	})
	if err != nil {
		return err
	}
	for name, o := range l.created {
		switch n := there[name]; {
		case o == done && n != 1:
			l.report.wrong("%s was acknowledged and is there %d times", name, n)
		case o == notDone && n != 0:
			l.report.wrong("%s was refused with 503 and is there", name)
		case n > 1:
			l.report.wrong("%s is there %d times", name, n)
		}
	}
	for name := range l.keyed {
		if there[name] != 1 {
			l.report.wrong("%s has a key and is there %d times", name, there[name])
		}
	}
	l.report.add("contacts compared", len(l.created)+len(l.keyed))
	l.history.judge(l.report)
	if err := l.checkTasks(ctx, made); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{l.checkNumbers, l.checkMail, l.checkOrders, l.checkFiles,
		l.checkHooks} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	l.checkDeaths()
	return nil
}

// moment reads a time of an answer.
func moment(v any) time.Time {
	text, _ := v.(string)
	t, _ := time.Parse(time.RFC3339, text) //nolint:errcheck // none is the zero time
	return t
}

// checkDeaths insists that others went on soon with the work of dead processes.
func (l *load) checkDeaths() {
	if l.world.deaths == 0 || l.world.front != nil {
		return
	}
	for _, what := range []string{automations, orders, mails, silence} {
		if longest := l.report.at("deaths: "+what, 1); longest > l.world.within || longest == 0 {
			l.report.wrong("after a death, %s took up to %s", what, longest)
		}
	}
	if p99 := l.report.at("deaths: "+neighboursHooks, .99); p99 > l.world.quiet || p99 == 0 {
		l.report.wrong("after a death, %s took up to %s (p99)", neighboursHooks, p99)
	}
}

// checkOrders insists that every order was carried out and charged once.
func (l *load) checkOrders(ctx context.Context) error {
	ended := map[string]map[string]any{}
	left, err := eventually(func() (left int, err error) {
		err = l.each(ctx, l.keys[0], "/v1/operations?status=succeeded&", func(v map[string]any) {
			ended[fmt.Sprint(v["id"])] = v
		})
		for _, operation := range l.orders {
			if ended[operation] == nil {
				left++
			}
		}
		return left, err
	})
	if err != nil {
		return err
	}
	if left > 0 {
		l.report.wrong("%d orders were not carried out", left)
	}
	for _, v := range ended {
		l.took(orders, moment(v["createdAt"]), moment(v["completedAt"]))
	}
	for what, query := range map[string]string{
		"charges":       "SELECT count(*) FROM sandbox_charges WHERE declined IS NULL",
		"registrations": "SELECT count(*) FROM sandbox_registrations",
	} {
		n, err := l.world.ask(ctx, query)
		if err != nil {
			return err
		}
		if n != strconv.Itoa(len(l.orders)) {
			l.report.wrong("%d orders, but %s %s", len(l.orders), n, what)
		}
	}
	l.report.add("orders charged and carried out once", len(l.orders))
	return nil
}

// sum is the SHA-256 of a text, as the service writes it.
func sum(text string) string {
	b := sha256.Sum256([]byte(text))
	return hex.EncodeToString(b[:])
}

// checkFiles insists that every uploaded file can be downloaded as it was.
func (l *load) checkFiles(ctx context.Context) error {
	there := map[string]string{}
	err := l.each(ctx, l.keys[0], "/v1/files?", func(v map[string]any) {
		there[fmt.Sprint(v["id"])] = fmt.Sprint(v["sha256"])
	})
	if err != nil {
		return err
	}
	for id, want := range l.files {
		got, err := l.download(ctx, "/v1/files/"+id+"/content")
		if err != nil || sum(got) != want || there[id] != want {
			l.report.wrong("the file %s is not as it was: %d bytes, %q, %v", id, len(got), there[id], err)
		}
	}
	l.report.add("files as they were", len(l.files))
	return nil
}

func (l *load) download(ctx context.Context, path string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.world.anyone().address+path, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", "Bearer "+l.keys[0])
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return string(text), err
}

// checkNumbers insists on numbers without gaps.
func (l *load) checkNumbers(ctx context.Context) error {
	var numbers []int
	err := l.each(ctx, l.keys[0], "/v1/invoices?", func(v map[string]any) {
		text, _ := v["invoiceNumber"].(string)
		digits := len(text)
		for digits > 0 && text[digits-1] >= '0' && text[digits-1] <= '9' {
			digits--
		}
		if n, err := strconv.Atoi(text[digits:]); err == nil {
			numbers = append(numbers, n)
		}
	})
	slices.Sort(numbers)
	for i, n := range numbers {
		if i > 0 && n != numbers[i-1]+1 {
			l.report.wrong("invoice number %d comes after %d", n, numbers[i-1])
		}
	}
	if len(numbers) < l.invoices {
		l.report.wrong("%d invoices were issued, %d have numbers", l.invoices, len(numbers))
	}
	l.report.add("invoices with gapless numbers", len(numbers))
	return err
}

// patience is how long the last jobs may take.
const patience = 3 * time.Minute

// eventually repeats look until it finds nothing left to wait for.
func eventually(look func() (left int, err error)) (int, error) {
	began := time.Now()
	for {
		left, err := look()
		if left == 0 || err != nil || time.Since(began) > patience {
			return left, err
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// checkTasks insists that the automation ran once for each contact.
func (l *load) checkTasks(ctx context.Context, made map[string]time.Time) error {
	var titles map[string]int
	var ran map[string]time.Time
	left, err := eventually(func() (left int, err error) {
		titles, ran = map[string]int{}, map[string]time.Time{}
		err = l.each(ctx, l.keys[0], "/v1/tasks?", func(v map[string]any) {
			title := fmt.Sprint(v["title"])
			titles[title]++
			ran[title] = moment(v["createdAt"])
		})
		for name := range l.keyed {
			if titles["Call "+name] == 0 {
				left++
			}
		}
		return left, err
	})
	if left > 0 {
		l.report.wrong("%d automations did not run", left)
	}
	for title, n := range titles {
		l.took(automations, made[strings.TrimPrefix(title, "Call ")], ran[title])
		if n > 1 {
			l.report.wrong("an automation ran %d times: %s", n, title)
		}
	}
	l.report.add("automations that ran once", len(titles))
	return err
}

// checkMail insists that every message was sent.
func (l *load) checkMail(ctx context.Context) error {
	left, err := eventually(func() (left int, err error) {
		err = l.each(ctx, l.keys[0], "/v1/messages?status=queued,sending,failed&", func(map[string]any) { left++ })
		return left, err
	})
	if err != nil {
		return err
	}
	if left > 0 {
		l.report.wrong("%d messages were not sent", left)
	}
	sent := 0
	err = l.each(ctx, l.keys[0], "/v1/messages?status=sent,delivered&", func(v map[string]any) {
		if v["subject"] == "Hello" {
			sent++
			l.took(mails, moment(v["createdAt"]), moment(v["sentAt"]))
		}
	})
	if sent != l.messages {
		l.report.wrong("%d messages were accepted, %d are sent", l.messages, sent)
	}
	l.report.add("messages sent", sent)
	return err
}

// checkHooks insists that every change of a register was delivered, in the order
// in which it happened; repeated deliveries are allowed.
func (l *load) checkHooks(ctx context.Context) error {
	for i, register := range l.registers {
		var want []string
		changes := "/v1/events?type=contact.updated&resourceId=" + register + "&"
		err := l.each(ctx, l.keys[0], changes, func(v map[string]any) { want = append(want, fmt.Sprint(v["id"])) })
		if err != nil {
			return err
		}
		slices.Reverse(want) // the newest came first
		var got []string
		left, err := eventually(func() (int, error) {
			got = nil
			seen := map[string]bool{}
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, d := range l.deliveries {
				if d.resource == register && !seen[d.id] {
					seen[d.id] = true
					got = append(got, d.id)
				}
			}
			return max(0, len(want)-len(got)), nil
		})
		if err != nil {
			return err
		}
		if left > 0 {
			l.report.wrong("%d webhooks of register %d did not arrive", left, i)
		}
		if !slices.Equal(got, want) {
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			l.report.wrong("the webhooks of register %d are out of order from number %d of %d: %v, want %v", i, at,
				len(want), got[at:min(at+3, len(got))], want[at:min(at+3, len(want))])
		}
		l.report.add("webhooks in order", len(got))
	}
	return nil
}
