package account

import (
	"testing"
	"time"
)

// The test vectors of RFC 6238, appendix B, with six digits.
func TestCodeAt(t *testing.T) {
	key := []byte("12345678901234567890")
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471",
		1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		if got := codeAtStep(key, at/30); got != want {
			t.Errorf("at %d: %s, want %s", at, got, want)
		}
		for early, ok := range map[time.Duration]bool{-90 * time.Second: false, -30 * time.Second: true, 0: true,
			30 * time.Second: true, 90 * time.Second: false} {
			if _, got := findCodeStep(key, want, time.Unix(at, 0).Add(early)); got != ok {
				t.Errorf("at %d, %s away: %v", at, early, got)
			}
		}
	}
}
