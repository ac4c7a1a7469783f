package main

import (
	"context"
	"slices"
)

const starts = 5

// startTimes starts and stops the server a few times and tells, in
// milliseconds, how long it took from the process to the first answer of /readyz.
func startTimes(ctx context.Context, f *frontdesk) (*startReport, error) {
	r := &startReport{Contacts: f.filled}
	for range starts {
		took, err := f.launch(ctx)
		if err != nil {
			return nil, err
		}
		f.stop()
		r.AllMs = append(r.AllMs, ms(took))
	}
	r.MedianMs = median(r.AllMs)
	say("start to ready with %d contacts: %.0f ms", f.filled, r.MedianMs)
	return r, nil
}

func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}
