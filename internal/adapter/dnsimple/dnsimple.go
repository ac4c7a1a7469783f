// Package dnsimple speaks to DNSimple, version 2 of its API. It was built and
// tested by the published description of that API; it has not been tried
// against the live service.
package dnsimple
