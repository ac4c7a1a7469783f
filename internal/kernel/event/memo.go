package event

import (
	"context"
	"sync"
	"time"

	"frontdesk/internal/kernel/clock"
	"frontdesk/internal/kernel/db"
	"frontdesk/internal/kernel/id"
)

// Memo keeps answers that take long to add up. One is right as long as its organization has no new event, and looks at
// the clock only to the minute. The zero value is ready to use.
type Memo[T any] struct {
	mu sync.Mutex
	of map[id.ID]map[memoKey]T // by organization
}

type memoKey struct {
	question string
	mark     LogMark
	minute   clock.Time
}

// What is kept is bounded: answers of each organization, and organizations.
const (
	mostAnswers       = 40
	mostOrganizations = 200
)

// Recall is the answer to a question that was kept, or what add adds up. keep says whether an answer is worth keeping.
func (m *Memo[T]) Recall(ctx context.Context, tx *db.Tx, org id.ID, now clock.Time, question string,
	add func() (answer T, keep bool, err error),
) (T, error) {
	if tx.Writes() { // what this transaction changed itself may still be undone
		answer, _, err := add()
		return answer, err
	}
	minute := now - now%clock.Time(time.Minute.Microseconds())
	mark, err := ReadLogMark(ctx, tx, org, minute)
	if err != nil {
		return *new(T), err
	}
	key := memoKey{question, mark, minute}
	m.mu.Lock()
	answer, ok := m.of[org][key]
	m.mu.Unlock()
	if ok {
		return answer, nil
	}
	answer, keep, err := add()
	if err == nil && keep {
		m.keep(org, key, answer)
	}
	return answer, err
}

func (m *Memo[T]) keep(org id.ID, key memoKey, answer T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of == nil || len(m.of) >= mostOrganizations {
		m.of = map[id.ID]map[memoKey]T{}
	}
	if m.of[org] == nil || len(m.of[org]) >= mostAnswers {
		m.of[org] = map[memoKey]T{}
	}
	m.of[org][key] = answer
}
