package mcp

import "testing"

// A received message is found in any answer that has one.
func TestReceived(t *testing.T) {
	for body, want := range map[string]bool{
		`{"data":{"direction":"inbound","text":"x"}}`:                      true,
		`{"data":{"direction": "inbound"}}`:                                true,
		`{"data":{"requestBody":"{\"direction\":\"inbound\"}"}}`:           true,
		`{"data":{"a":"{\"b\":\"{\\\"direction\\\":\\\"inbound\\\"}\"}"}}`: true,
		`{"data":{"direction":"outbound","text":"inbound"}}`:               false,
	} {
		if got := received.MatchString(body); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
