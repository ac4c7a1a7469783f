package desk_test

import (
	"sync/atomic"
	"testing"

	"frontdesk/internal/apptest"
)

// Only whoever knows the current password can change it. When several try at
// once, the first one wins: for the others it is no longer the current one.
func TestPasswordChangedOnce(t *testing.T) {
	apptest.EachEngine(t, func(t *testing.T, a *apptest.App) {
		b := owner(t, a)
		var changed atomic.Int64
		apptest.RunAtOnce(4, func(i int) {
			p := b.post("/settings/password", "current", "a long password", "password",
				"a longer password "+string(rune('a'+i)))
			switch p.Status {
			case 200:
				changed.Add(1)
			default:
				p.refused(400, "This is not your current password")
			}
		})
		if n := changed.Load(); n != 1 {
			t.Errorf("changed %d times", n)
		}
	})
}
