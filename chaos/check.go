package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// each visits all rows of a list, oldest first.
func (l *load) each(ctx context.Context, key, path string, fn func(map[string]any)) error {
	for offset := 0; ; offset += 100 {
		a := l.call(ctx, key, http.MethodGet, fmt.Sprintf("%slimit=100&offset=%d", path, offset), "", "")
		if a.outcome != done {
			return fmt.Errorf("%s: %d %v", path, a.status, a.body)
		}
		for _, row := range a.list {
			fn(row)
		}
		if len(a.list) < 100 {
			return nil
		}
	}
}

// check compares what the callers remember with what is there.
func (l *load) check(ctx context.Context) error {
	defer l.hooks.Close()
	say("checking")
	there := map[string]int{}
	err := l.each(ctx, l.keys[0], "/v1/contacts?", func(v map[string]any) { there[fmt.Sprint(v["lastName"])]++ })
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
	for _, part := range []func(context.Context) error{l.checkNumbers, l.checkTasks, l.checkMail, l.checkHooks} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
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
func (l *load) checkTasks(ctx context.Context) error {
	var titles map[string]int
	left, err := eventually(func() (left int, err error) {
		titles = map[string]int{}
		err = l.each(ctx, l.keys[0], "/v1/tasks?", func(v map[string]any) { titles[fmt.Sprint(v["title"])]++ })
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
	if left > 0 {
		l.report.wrong("%d messages were not sent", left)
	}
	l.report.add("messages sent", len(l.messages))
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
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, d := range l.deliveries {
				if d.resource == register && !slices.Contains(got, d.id) {
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

// crowd lets many clients come at once to one process: those that it cannot serve
// are told so quickly, it stays ready, and a moment later it is as fast as before.
func (w *world) crowd(ctx context.Context, key string, r *report) error {
	p, l := w.fleet[0], &load{world: w, report: newReport()}
	say("%d clients at once", w.clients)
	crowd, leave := context.WithTimeout(ctx, 10*time.Second)
	defer leave()
	var all sync.WaitGroup
	var served, turned, unready atomic.Int64
	for range w.clients {
		all.Go(func() {
			for crowd.Err() == nil {
				a := l.callTo(ctx, p, key, http.MethodPost, "/v1/contacts", "", `{"lastName": "Crowd"}`)
				switch a.outcome {
				case done:
					served.Add(1)
				case notDone:
					turned.Add(1)
					time.Sleep(time.Second) // as Retry-After says
				case refused, unknown:
					l.report.wrong("in the crowd: %d %v", a.status, a.body)
				}
			}
		})
	}
	for crowd.Err() == nil {
		if !p.ready(ctx) {
			unready.Add(1)
		}
		time.Sleep(100 * time.Millisecond)
	}
	all.Wait()
	r.add("requests served in the crowd", int(served.Load()))
	r.add("requests turned away in the crowd", int(turned.Load()))
	r.add("times that /readyz was not 200 in the crowd", int(unready.Load()))
	for _, text := range l.report.wrongs {
		r.wrong("%s", text)
	}
	time.Sleep(time.Second)
	began := time.Now()
	if a := l.callTo(ctx, p, key, http.MethodPost, "/v1/contacts", "", `{"lastName": "After"}`); a.outcome != done {
		r.wrong("a second after the crowd: %d %v", a.status, a.body)
	}
	r.lag("a request a second after the crowd", time.Since(began))
	return nil
}
