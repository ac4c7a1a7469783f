// Command fakestripe serves the fake of Stripe for the tests under judges, which run
// the service as a separate program. It prints the address that it listens on.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"frontdesk/internal/adapter/stripe/stripetest"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	address := "http://" + l.Addr().String()
	fmt.Println(address) //nolint:forbidigo // a program of its own, which tells whoever started it
	server := &http.Server{Handler: stripetest.New(address, log.Fatalf), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(l))
}
