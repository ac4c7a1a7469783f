package peer

import "testing"

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost":              true,
		"LocalHost:8080":         true,
		"127.0.0.1":              true,
		"127.1.2.3:80":           true,
		"::1":                    true,
		"[::1]":                  true,
		"[::1]:8080":             true,
		"::ffff:127.0.0.1":       true,
		"[::ffff:127.0.0.1]:80":  true,
		"":                       false,
		":8080":                  false, // every address of the machine
		"0.0.0.0:8080":           false,
		"[::]:8080":              false,
		"10.0.0.1":               false,
		"localhost.example.com":  false,
		"127.0.0.1.example.com":  false,
		"example.com:127":        false,
		"2130706433":             false, // 127.0.0.1 as a number, which is no address here
		"[::1]:80.example.com:1": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("%q: %t", host, got)
		}
	}
}
