// Package fault holds the one error type that callers may see: a stable code, an HTTP status, a sentence and details.
// Everything else that goes wrong is an ordinary error, which a door logs once and answers as Internal, so that no
// message of a database or a provider reaches a client by accident.
//
// Read fault.go first. A Kind is declared once with DefineKind and is what the documents list; a Fault is one refusal
// of that kind, made by New, Say, WithDetails or Because. FromError turns any error into what a caller may see. tree.go
// has Tree, the issues of an invalid request, each at its place, and words.go the sentences for common issues.
//
// Codes are part of the contract: they are never renamed or reused.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"
)

// Kind is one declared reason for refusing a request.
type Kind struct {
	Code    string
	Status  int
	Message string // the sentence for a caller, unless the Fault has its own
}

var kindByCode = map[string]*Kind{}

// DefineKind declares a kind of refusal. It panics when the code is taken.
func DefineKind(code string, status int, message string) *Kind {
	if kindByCode[code] != nil {
		panic("fault: " + code + " is defined twice")
	}
	k := &Kind{code, status, message}
	kindByCode[code] = k
	return k
}

// As is the same kind with another status, for refusals that pass on the status of a provider.
func (k *Kind) As(status int) *Kind { return &Kind{k.Code, status, k.Message} }

// The kinds of refusal that any operation can answer with.
var (
	Unauthorized = DefineKind("UNAUTHORIZED", 401,
		"The API key is missing or not valid. Send it as \"Authorization: Bearer <API_KEY>\".")
	Forbidden       = DefineKind("INSUFFICIENT_PERMISSIONS", 403, "This key may not do that.")
	AccountDisabled = DefineKind("ACCOUNT_DISABLED", 403, "This account is disabled.")
	AgreementNeeded = DefineKind("BUSINESS_AGREEMENT_REQUIRED", 403,
		"An owner or admin must accept the business agreement first.")
	Invalid          = DefineKind("VALIDATION_ERROR", 400, "The request body is not valid.")
	BadInput         = DefineKind("INVALID_INPUT", 400, "The request is not valid.")
	MissingQuery     = DefineKind("MISSING_QUERY", 400, "A required query parameter is missing.")
	NotFound         = DefineKind("NOT_FOUND", 404, "There is no such resource.")
	MethodNotAllowed = DefineKind("METHOD_NOT_ALLOWED", 405, "This path does not take that method.")
	BadRange         = DefineKind("RANGE_NOT_SATISFIABLE", 416, "The file has no such range of bytes.")
	TooLarge         = DefineKind("PAYLOAD_TOO_LARGE", 413, "The request body is too large.")
	KeyInFlight      = DefineKind("IDEMPOTENCY_KEY_IN_FLIGHT", 409,
		"The first request with this Idempotency-Key is still running. Retry in a moment.")
	VersionMismatch = DefineKind("VERSION_MISMATCH", 412,
		"It was changed since you read it. Get it again, and send its new ETag in If-Match.")
	KeyReused = DefineKind("IDEMPOTENCY_KEY_REUSED", 422,
		"This Idempotency-Key was used for a different request. Use a new key.")
	RateLimited = DefineKind("RATE_LIMITED", 429, "Too many requests. Wait for the time in Retry-After.")
	Internal    = DefineKind("INTERNAL_ERROR", 500,
		"Something went wrong on our side. The request id names the attempt in our logs.")
	Unavailable    = DefineKind("SERVICE_UNAVAILABLE", 503, "The service is briefly unavailable. Retry in a moment.")
	OutcomeUnknown = DefineKind("OUTCOME_UNKNOWN", 503,
		"It may have happened. Repeat it only with the same Idempotency-Key, or look first.")
)

// Fault is one refusal.
type Fault struct {
	*Kind
	Text       string        // the sentence for the caller; empty for that of the kind
	Details    any           // for programs, as JSON; a *Tree for an invalid request
	RetryAfter time.Duration // zero where waiting does not help; see RetryDelay
	// Binding stores this refusal as the answer to the idempotency key: a retry with the same key gets it again, and
	// the details say to use a new key.
	Binding bool
	cause   error // for the log, never shown
}

func (f *Fault) Error() string {
	if f.cause != nil {
		return f.Code + ": " + f.Sentence() + ": " + f.cause.Error()
	}
	return f.Code + ": " + f.Sentence()
}

// Unwrap returns the cause, for the log.
func (f *Fault) Unwrap() error { return f.cause }

// Sentence is what the caller reads.
func (f *Fault) Sentence() string {
	if f.Text != "" {
		return f.Text
	}
	return f.Kind.Message
}

// RetryDelay is how long the caller should wait before a retry, 0 when a retry does not help. A 503 is always worth
// one.
func (f *Fault) RetryDelay() time.Duration {
	if f.RetryAfter == 0 && f.Status == http.StatusServiceUnavailable {
		return time.Second
	}
	return f.RetryAfter
}

// New refuses with the kind's own sentence.
func (k *Kind) New() *Fault { return &Fault{Kind: k} }

// Say refuses with a sentence for this case.
func (k *Kind) Say(format string, args ...any) *Fault {
	return &Fault{Kind: k, Text: fmt.Sprintf(format, args...)}
}

// WithDetails refuses with details.
func (k *Kind) WithDetails(details any) *Fault { return &Fault{Kind: k, Details: details} }

// Because refuses with the kind's sentence and keeps the cause for the log.
func (k *Kind) Because(err error) *Fault { return &Fault{Kind: k, cause: err} }

// Is lets errors.Is(err, fault.NotFound.New()) compare kinds.
func (f *Fault) Is(target error) bool {
	t, ok := target.(*Fault)
	return ok && t.Code == f.Code
}

// FromError returns what a caller may see of an error: the fault in its chain, Unavailable for a full disk, or
// Internal.
func FromError(err error) *Fault {
	var f *Fault
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		full := Unavailable.Because(err)
		full.Text = "The server's disk is full. Retry later; whoever runs the server must make room."
		return full
	}
	return Internal.Because(err)
}

// IsKind reports whether err is, or wraps, a refusal of kind k.
func IsKind(err error, k *Kind) bool {
	var f *Fault
	return errors.As(err, &f) && f.Code == k.Code
}
