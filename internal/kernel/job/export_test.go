package job

// Stopping is closed when a stop has begun.
func (q *Queue) Stopping() <-chan struct{} { return q.stopping }

// ClaimText is the statement that claims, for the test that looks at its plan.
func (q *Queue) ClaimText() string { return q.text().claim }
