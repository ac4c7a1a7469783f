# `make` alone lists the targets. CI runs `make test`, then `make test-all` (.ci/run).
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL: # the machine is busy enough with one of them
.PHONY: help run test test-all unit walks attacks conflicts pooler chaos race lint generate verify bench check judges stories release

# Tests that use PostgreSQL or S3 run anew each time, because the address of the
# throw-away server is part of what go test remembers them by. The others may
# come from its cache. Test binaries without symbols link in half the time.
GOTEST := go test -timeout 20m -ldflags='-s -w'

# What was built in one folder serves a clone in another.
export GOFLAGS := -trimpath

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Run the service with sample data
	go run ./cmd/frontdesk serve --demo

# Five packages at once, because a test waits more than it computes. vet's look at
# format strings reads every dependency's source, which takes minutes from nothing:
# `make lint` does it.
UNIT := scripts/unit -p 5 -vet=off -ldflags='-s -w'

test: ## What to run while you work: vet, staticcheck and all tests on SQLite, and some on PostgreSQL where it is installed
	go vet -printf=false ./...
	scripts/formatted
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.1 ./...
	$(UNIT)
	@! scripts/with-postgres --is-installed || scripts/in-memory scripts/with-postgres $(GOTEST) -vet=off -run /postgres \
		./internal/kernel/op ./internal/kernel/event ./internal/resource/contact

test-all: check judges ## Everything that must pass: check, then judges

unit: ## Tests that need no server; the last line says what was skipped
	$(UNIT)

check: lint ## Lint, then unit tests on SQLite, PostgreSQL and S3, with PowerDNS, dig and named-checkzone, and a minute of chaos
	scripts/need strace
	scripts/need pdftotext poppler-utils
	scripts/in-memory scripts/with-powerdns scripts/with-postgres scripts/with-s3 $(GOTEST) ./...
	cd chaos && go vet ./... && go test ./... && ../scripts/in-memory go run . -short

judges: ## What others wrote reads what we write: OpenAPI tools, compilers of the clients, MCP and OAuth clients, a browser, an identity provider, stripe-mock, a mail server, webhook receivers, Litestream, a certificate authority, systemd and containers
	scripts/judge-openapi
	scripts/judge-clients
	scripts/judge-agents
	scripts/judge-console
	scripts/judge-oidc
	scripts/judge-stripe
	scripts/judge-mail
	scripts/judge-webhooks
	scripts/judge-domains
	scripts/judge-litestream
	scripts/judge-server

stories: ## The browser's stories and pages with PostgreSQL, which judges runs with SQLite
	scripts/with-postgres scripts/judge-console

walks: ## Forty things at random at the desk, again and again (WALKS=20), with reloads, second tabs, ended sessions and a killed server
	JUDGE_WALKS=$(or $(WALKS),20) scripts/judge-console -run TestWalks -v

attacks: ## Replay the attacks that an earlier version gave way to; all are refused
	scripts/in-memory scripts/with-postgres $(GOTEST) -v -run '^TestAttack' ./... | { grep -E '^(---|ok|FAIL|panic)' || true; }

conflicts: ## All tests on PostgreSQL while one write in twenty fails with a serialization conflict
	FRONTDESK_TEST_CONFLICTS=20 scripts/in-memory scripts/with-postgres $(GOTEST) ./internal/...

pooler: ## All tests on PostgreSQL through PgBouncer in transaction mode
	scripts/in-memory scripts/with-postgres scripts/with-pgbouncer $(GOTEST) ./internal/...

chaos: ## Three processes over Patroni that are killed, frozen and cut off under load; an upgrade and back; limits; a crowd (CHAOS=-short for a minute)
	scripts/with-postgres true # which installs it
	[[ "$(CHAOS)" == *-short* ]] || { scripts/need patroni; scripts/need etcd etcd-server; scripts/need haproxy; }
	cd chaos && go run . $(CHAOS)

race: ## The kernel's tests under the race detector, shortened
	scripts/in-memory scripts/with-postgres $(GOTEST) -race -short ./internal/kernel/...

lint: ## go vet, gofmt and golangci-lint
	go vet ./...
	scripts/formatted
	scripts/lint

generate: ## Write generated files anew: api/openapi.json, docs/guide/events.md, the clients
	go run ./cmd/frontdesk openapi --base-url https://frontdesk.example >api/openapi.json.new
	mv api/openapi.json.new api/openapi.json
	go run ./cmd/frontdesk events >docs/guide/events.md.new
	mv docs/guide/events.md.new docs/guide/events.md
	go run ./cmd/generate-clients

verify: generate ## Fail when a generated file was not up to date
	git diff --exit-code --stat api docs/guide/events.md clients

bench: ## Load the service and print what it does; then the figures of the agent door, of jobs beside River, of automations and webhooks together, of a database that grows, and of the clients
	cd bench && FRONTDESK_TEST_FSYNC=on ../scripts/with-postgres go run .
	go test -run TestTools -bench Agent -v ./internal/door/mcp
	cd bench && go run ./tokens
	cd bench/jobs && FRONTDESK_TEST_FSYNC=on ../../scripts/with-postgres go run .
	go test -run '^$$' -bench EventFlow -benchtime 1x ./internal/app
	scripts/in-memory scripts/with-postgres go test -run '^$$' -bench Growth -benchtime 1x ./internal/app
	scripts/judge-clients -bench

release: ## Write archives for amd64 and arm64 into dist/, with their sums
	scripts/release
