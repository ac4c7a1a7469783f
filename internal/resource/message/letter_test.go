package message

import (
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"
	"testing"

	"frontdesk/internal/kernel/id"
)

// A subject of any length and script fits into its lines and comes back whole.
func TestEncodedWords(t *testing.T) {
	for _, s := range []string{"ż", "Żółw", strings.Repeat("ä", 500), strings.Repeat("漢字 ", 80),
		"a" + strings.Repeat("🐢", 60), "plain start, then ż", "=?UTF-8?B?SGk=?=", "see =?x-none?q?_?= there"} {
		words := encodeHeaderWords(s)
		for _, line := range strings.Split("Subject: "+words, "\r\n") {
			if len(line) > 76 {
				t.Errorf("%q has %d characters", line, len(line))
			}
		}
		if back, err := new(mime.WordDecoder).DecodeHeader(strings.ReplaceAll(words, "\r\n", "")); err != nil ||
			back != s {
			t.Errorf("%q became %q, %v", s, back, err)
		}
	}
	if encodeHeaderWords("Hello, \"you\" =?there?=") != "" {
		t.Error("ASCII is encoded")
	}
}

func TestUnfoldID(t *testing.T) {
	const body = "\r\n\r\nMessage-ID:\r\n <no@header>"
	for given, want := range map[string]string{
		"Date: x\r\nMessage-ID:\r\n <a@b>" + body: "Date: x\r\nMessage-ID: <a@b>" + body,
		"Date: x\r\nMessage-ID: <a@b>" + body:     "Date: x\r\nMessage-ID: <a@b>" + body,
	} {
		if got := string(unfoldMessageID([]byte(given))); got != want {
			t.Errorf("%q became %q", given, got)
		}
	}
}

// A Message-ID that somebody else wrote never becomes a header of its own.
func TestHeaderIDs(t *testing.T) {
	got := formatMessageIDs([]string{"a@b", "", "x@y\r\nBcc: eve@example.com", "two words@b", "<c@d>", "ż@b",
		strings.Repeat("x", 300)})
	if !slices.Equal(got, []string{"<a@b>"}) {
		t.Errorf("%q", got)
	}
}

// A long thread names its first message and the latest.
func TestFollow(t *testing.T) {
	parent := &Message{ThreadID: id.New(), InternetID: "n0"}
	for i := 1; i < 60; i++ {
		v := &Message{InternetID: fmt.Sprintf("n%d", i)}
		v.becomeAnswerTo(parent)
		if v.ThreadID != parent.ThreadID || v.References[0] != "n0" ||
			v.References[len(v.References)-1] != fmt.Sprintf("n%d", i-1) || len(v.References) != min(i, maxReferences) {
			t.Fatalf("message %d names %v", i, v.References)
		}
		parent = v
	}
}

// Callers see what a mail system said, and not how we reach it.
func TestPublicReason(t *testing.T) {
	if got := publicReason(fmt.Errorf("dial tcp 10.0.0.7:587: refused")); strings.Contains(got, "10.0.0.7") ||
		got == "" {
		t.Error(got)
	}
	if got := publicReason(errors.Join(&Refusal{Reason: "451 Later"})); got != "451 Later" {
		t.Error(got)
	}
}
