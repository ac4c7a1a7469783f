package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"
)

// report is what a run found. Its JSON is what results/ keeps.
type report struct {
	At          time.Time                       `json:"at"`
	Go          string                          `json:"go"`
	CPUs        int                             `json:"cpus"`
	Seconds     float64                         `json:"seconds"`
	Rounds      int                             `json:"rounds"`
	Conns       int                             `json:"connections"`
	Peer        string                          `json:"peer"` // who asked pocketbase
	Contacts    int                             `json:"contacts"`
	Synchronous map[string]string               `json:"synchronous"`
	Runs        map[string]map[string][]figures `json:"runs"` // by workload and server
	Medians     map[string]map[string]figures   `json:"medians"`
	Start       *startReport                    `json:"start,omitempty"`
	RssAnonMB   float64                         `json:"rssAnonMB,omitempty"`
	PeakMB      float64                         `json:"peakMB,omitempty"`
	Large       *largeReport                    `json:"large,omitempty"`
	Targets     []target                        `json:"targets"`
}

type startReport struct {
	Contacts int       `json:"contacts"`
	MedianMs float64   `json:"medianMs"`
	AllMs    []float64 `json:"allMs"`
}

type largeReport struct {
	Small            int     `json:"small"`
	Large            int     `json:"large"`
	FirstPageSmallMs float64 `json:"firstPageSmallMs"`
	FirstPageLargeMs float64 `json:"firstPageLargeMs"`
	LastPageLargeMs  float64 `json:"lastPageLargeMs"` // by a cursor
	Asks             []ask   `json:"asks"`
	RssAnonMB        float64 `json:"rssAnonMB"`
}

type ask struct {
	Name     string  `json:"name"`
	MedianMs float64 `json:"medianMs"`
	SmallMs  float64 `json:"smallMs,omitempty"`
}

// target is a figure beside what it should be.
type target struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	AtMost float64 `json:"atMost"`
	Unit   string  `json:"unit,omitempty"`
}

func (t target) verdict() string {
	if t.Value <= t.AtMost {
		return "met"
	}
	return "MISSED"
}

// Of the peer's CPU per request we may use so much, and of the limit's
// throughput a prototype reached so much.
var (
	cpuTargets = map[string]float64{getOne: 1 / 10.0, listTen: 1 / 12.0, create: 1 / 5.0, createKeyed: 1 / 4.0,
		createLone: 1 / 2.0}
	postgresTargets = map[string]float64{getOne: 0.30, listTen: 0.18, create: 0.12, createKeyed: 0.10}
	throughputGuide = map[string]float64{getOne: 0.38, listTen: 0.18, create: 0.11, createKeyed: 0.09}
)

// total is the CPU of a request, that of a database beside the service included.
func (f figures) total() float64 { return f.CPU + f.Database }

const (
	batchTarget     = 1 / 10.0
	startTarget     = 100 // ms
	memoryTarget    = 80  // MB
	peakTarget      = 160 // MB
	firstPageTarget = 2   // times that of the small database
	offsetTarget    = 25  // ms
	cursorTarget    = 1.2 // times the first page
)

func newReport(o options) *report {
	return &report{At: time.Now().UTC(), Go: runtime.Version(), CPUs: runtime.NumCPU(), Seconds: o.seconds,
		Rounds: o.rounds, Conns: o.conns, Peer: o.peer,
		Contacts: o.contacts, Synchronous: map[string]string{}, Runs: map[string]map[string][]figures{},
		Medians: map[string]map[string]figures{}}
}

func (r *report) add(load, server string, f figures) {
	if r.Runs[load] == nil {
		r.Runs[load], r.Medians[load] = map[string][]figures{}, map[string]figures{}
	}
	all := append(r.Runs[load][server], f)
	r.Runs[load][server] = all
	mid := func(of func(figures) float64) float64 {
		var v []float64
		for _, f := range all {
			v = append(v, of(f))
		}
		return median(v)
	}
	r.Medians[load][server] = figures{
		Throughput: mid(func(f figures) float64 { return f.Throughput }),
		P50:        mid(func(f figures) float64 { return f.P50 }),
		P99:        mid(func(f figures) float64 { return f.P99 }),
		CPU:        mid(func(f figures) float64 { return f.CPU }),
		Database:   mid(func(f figures) float64 { return f.Database }),
		Bytes:      f.Bytes,
	}
}

// memory notes what a server has, and the most that it ever had.
func (r *report) memory(f *frontdesk) (err error) {
	if r.RssAnonMB, err = f.rssAnonMB(); err != nil {
		return err
	}
	r.PeakMB, err = f.peakMB()
	return err
}

// targets collects what can be judged of what ran.
func (r *report) targets() (out []target) {
	for _, load := range workloads(allParts) {
		ours, ok := r.Medians[load]["frontdesk"]
		peer, ok2 := r.Medians[load]["pocketbase"]
		if ok && ok2 && peer.CPU > 0 {
			out = append(out, target{Name: load + ": CPU, frontdesk / pocketbase", Value: ours.CPU / peer.CPU,
				AtMost: cpuTargets[load]})
		}
	}
	for _, server := range []string{"frontdesk", "postgres"} {
		batch, ok := r.Medians[createBatch][server]
		lone, ok2 := r.Medians[createLone][server]
		if ok && ok2 {
			out = append(out, target{Name: "CPU on " + server + ", row of a batch / lone create",
				Value: batch.total() / lone.total(), AtMost: batchTarget})
		}
	}
	if r.RssAnonMB > 0 {
		out = append(out, target{"memory of its own after the run", r.RssAnonMB, memoryTarget, "MB"},
			target{"memory of its own at most", r.PeakMB, peakTarget, "MB"})
	}
	if r.Start != nil {
		out = append(out, target{fmt.Sprintf("start to ready, %d contacts", r.Start.Contacts), r.Start.MedianMs,
			startTarget,
			"ms"})
	}
	if l := r.Large; l != nil {
		out = append(out, target{fmt.Sprintf("first page, %d / %d contacts", l.Large, l.Small),
			l.FirstPageLargeMs / l.FirstPageSmallMs, firstPageTarget, ""},
			target{l.Asks[0].Name, l.Asks[0].MedianMs, offsetTarget, "ms"},
			target{"last page by cursor / first page", l.LastPageLargeMs / l.FirstPageLargeMs, cursorTarget, ""})
	}
	return out
}

// print writes the tables. Each is aligned on its own.
func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\t\n", args...) }
	if len(r.Runs) > 0 {
		fmt.Fprintf(out, "\n%d connections, %d contacts, %d × %g s each, medians; %d processors, %s; no errors\n\n",
			r.Conns,
			r.Contacts, r.Rounds, r.Seconds, r.CPUs, r.Go)
		line("workload\tserver\trequests/s\tp50 ms\tp99 ms\tCPU µs\tdatabase\tbytes\tof bare\tguide")
	}
	for _, load := range workloads(allParts) {
		for _, server := range allServers {
			f, ok := r.Medians[load][server]
			if !ok {
				continue
			}
			share, guide := "", ""
			if bare := r.Medians[load]["bare"]; bare.Throughput > 0 && server != "bare" {
				share = fmt.Sprintf("%.2f", f.Throughput/bare.Throughput)
			}
			aims := map[string]map[string]float64{"frontdesk": throughputGuide, "postgres": postgresTargets}
			if aim := aims[server][load]; aim > 0 {
				guide = fmt.Sprintf("%.2f", aim)
			}
			database := ""
			if f.Database > 0 {
				database = fmt.Sprintf("%.0f", f.Database)
			}
			line("%s\t%s\t%.0f\t%.2f\t%.2f\t%.0f\t%s\t%d\t%s\t%s", load, server, f.Throughput, f.P50, f.P99, f.CPU,
				database, f.Bytes, share, guide)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, server := range allServers {
		if v := r.Synchronous[server]; v != "" {
			fmt.Fprintf(out, "\nPRAGMA synchronous of %s: %s", server, v)
		}
	}
	fmt.Fprintln(out)
	if l := r.Large; l != nil {
		fmt.Fprintf(out, "\n%d contacts, one request at a time (with %d):\n\n", l.Large, l.Small)
		line("first page\t%.2f ms\t(%.2f ms)", l.FirstPageLargeMs, l.FirstPageSmallMs)
		line("last page, by cursor\t%.2f ms\t", l.LastPageLargeMs)
		for _, a := range l.Asks {
			small := ""
			if a.SmallMs > 0 {
				small = fmt.Sprintf("(%.2f ms)", a.SmallMs)
			}
			line("%s\t%.2f ms\t%s", a.Name, a.MedianMs, small)
		}
		line("memory of its own\t%.0f MB\t", l.RssAnonMB)
		if err := w.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	line("target\tfound\tat most\t")
	for _, t := range r.Targets {
		line("%s\t%s\t%s\t%s", t.Name, t.text(t.Value), t.text(t.AtMost), t.verdict())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	return nil
}

// text is a value with its unit. Ratios below one read better turned around.
func (t target) text(v float64) string {
	switch {
	case t.Unit != "":
		return fmt.Sprintf("%.1f %s", v, t.Unit)
	case v < 1:
		return fmt.Sprintf("1/%.1f", 1/v)
	}
	return fmt.Sprintf("%.2f", v)
}

// save writes the report as JSON and returns its path.
func (r *report) save(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, r.At.Format("2006-01-02T150405Z")+".json")
	return path, os.WriteFile(path, append(text, '\n'), 0o644)
}
