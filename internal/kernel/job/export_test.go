package job

// Stopping is closed when a stop has begun.
func (q *Queue) Stopping() <-chan struct{} { return q.stopping }

// Texts are statements that run all the time, for the test that looks at their plans.
func (q *Queue) Texts() (claim, fresh, holders string) {
	return q.statementTexts().claim, q.statementTexts().findFresh, q.statementTexts().holders
}
