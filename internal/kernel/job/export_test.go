package job

// ClaimText is the statement that claims, for the test that looks at its plan.
func (q *Queue) ClaimText() string { return q.text().claim }
