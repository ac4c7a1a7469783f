#!/usr/bin/env bash
# three.sh FRONTDESK FOLDER: run by judge-server in its network, under with-postgres
# and with-s3. Three processes behind HAProxy, which passes TLS through, start at the
# same time without a certificate: they obtain one, together, and renew it together.
# FOLDER has the authority's files and its log.
set -euo pipefail
frontdesk=$1 tmp=$2 name=three.example.com
fail() { echo "judge-server: three processes: $*" >&2; tail -n 15 "$tmp"/three-*.log >&2; exit 1; }
processes=()
trap 'kill "${processes[@]}" 2>/dev/null; wait' EXIT

{
  printf 'global\n  maxconn 500\ndefaults\n  mode tcp\n  timeout connect 2s\n  timeout client 30s\n  timeout server 30s\n'
  for port in 80 443; do
    printf 'listen front%s\n  bind 192.0.2.20:%s\n  balance roundrobin\n' $port $port
    for n in 1 2 3; do printf '  server s%s 192.0.2.2%s:%s check inter 200ms\n' $n $n $port; done
  done
} >"$tmp/three.cfg"
haproxy -f "$tmp/three.cfg" -db >"$tmp/three-balancer.log" 2>&1 &
processes+=($!)
curl -sS --fail --aws-sigv4 aws:amz:us-east-1:s3 --user test:testsecret -H "x-amz-content-sha256: $(sha256sum </dev/null | cut -d' ' -f1)" \
  -X PUT "$FRONTDESK_TEST_S3/frontdesk" >/dev/null

serve() {
  mkdir -p "$tmp/three-$1"
  env -u FRONTDESK_TEST_POSTGRES -u FRONTDESK_TEST_S3 "$frontdesk" serve --data "$tmp/three-$1" --database-url "$FRONTDESK_TEST_POSTGRES" --domain $name \
    --tls-listen "192.0.2.2$1:443" --tls-redirect "192.0.2.2$1:80" --smtp-listen '' --dns-listen '' --acme-check 2s \
    --acme-directory https://192.0.2.1:14000/dir --acme-root "$tmp/authority.pem" --files-s3-bucket frontdesk \
    --files-s3-endpoint "$FRONTDESK_TEST_S3" --files-s3-access-key test --files-s3-secret-key testsecret >"$tmp/three-$1.log" 2>&1 &
  processes+=($!)
}
issued() { grep -c 'Issued certificate' "$tmp/pebble.log" || true; } # by the authority, for whomever
before=$(issued)
serve 1
for ((i = 0; ; i++)); do # the others need its sealing key
  [ ! -s "$tmp/three-1/sealing.key" ] || break
  [ "$i" -lt 300 ] || fail "the first makes no sealing key"
  sleep 0.1
done
for n in 2 3; do mkdir -p "$tmp/three-$n" && cp "$tmp/three-1/sealing.key" "$tmp/three-$n/"; done
serve 2
serve 3

# The serial that a process shows, if its certificate is right.
serial() {
  openssl s_client -connect "192.0.2.2$1:443" -servername $name -CAfile "$tmp/roots.pem" -verify_hostname $name -verify_return_error </dev/null 2>/dev/null |
    openssl x509 -noout -serial 2>/dev/null
}
# all_but SERIAL: waits until the three show one certificate that is not SERIAL.
all_but() {
  local one two three
  for ((i = 0; i < 600; i++)); do
    one=$(serial 1) two=$(serial 2) three=$(serial 3)
    if [ -n "$one" ] && [ "$one" = "$two" ] && [ "$two" = "$three" ] && [ "$one" != "$1" ]; then echo "$one" && return; fi
    sleep 0.2
  done
  return 1
}
first=$(all_but none) || fail "they do not show one certificate: $(serial 1) $(serial 2) $(serial 3)"
[ "$(($(issued) - before))" = 1 ] || fail "$(($(issued) - before)) certificates were issued"
for _ in 1 2 3 4 5 6; do
  curl -sS --fail --cacert "$tmp/roots.pem" --resolve $name:443:192.0.2.20 https://$name/readyz >/dev/null || fail "no answer behind the balancer"
done
second=$(all_but "$first") || fail "they do not renew it"
[ "$second" != "$first" ] && [ "$(($(issued) - before))" = 2 ] || fail "$(($(issued) - before)) certificates were issued by the first renewal"
echo "judge-server: three processes started at once: one certificate, and one renewal, shown by all of them"
