# Sourced by judge-server: the certificate of https is that of STARTTLS, for openssl
# and for OpenSMTPD, which delivers only to a server whose certificate it can verify.
print_of() { outside openssl s_client -verify_return_error -verify_hostname "$name" -CAfile "$tmp/roots.pem" -servername "$name" "$@" </dev/null 2>/dev/null |
  openssl x509 -noout -fingerprint -sha256; }
same=
for _ in 1 2 3; do # one may have been renewed in between
  web=$(print_of -connect 192.0.2.10:443) && mail=$(print_of -connect 192.0.2.10:25 -starttls smtp) || fail "openssl does not accept the certificate"
  [ "$web" != "$mail" ] || { same=yes; break; }
done
[ -n "$same" ] || fail "STARTTLS shows another certificate"

config=/etc/frontdesk/frontdesk.toml
admin() { inside frontdesk admin "$@" --config "$config" --json; }
field() { "$python" -c 'import json, sys; v = json.load(sys.stdin); print((v[0] if isinstance(v, list) else v)[sys.argv[1]])' "$1"; }
made=$(admin org create --name Judges --plan enterprise)
org=$(field organizationId <<<"$made")
business=$(field businessId <<<"$made")
admin user create --org "$org" --email judge@example.com --name Judge --role owner --password-stdin <<<"a long password" >/dev/null
admin agreement accept --business "$business" --kind business --by judge@example.com >/dev/null
key=$(admin key create --business "$business" --name Judge --permissions '*' | field key)
api() { outside curl -sS --fail-with-body --cacert "$tmp/roots.pem" --resolve "$name:443:192.0.2.10" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' "$@"; }
sent=$(api "https://$name/v1/messages" -d '{"to": "ada@example.com", "subject": "Which colour?", "text": "Red or green?"}')
thread=$("$python" -c 'import json, sys; print(json.load(sys.stdin)["data"]["threadId"])' <<<"$sent")
kept() { admin mail list --org "$org" | field id; }
until_true 30 kept || fail "the message is not in the mailbox"
reply=$(admin mail show "$(kept)" --org "$org" | grep -o "<reply+[^@]*@$name" | sort -u | tr -d '<')
[ -n "$reply" ] || fail "the message has no address for answers"

cat >"$tmp/smtpd.conf" <<CONF
listen on 192.0.2.1 port 2525 hostname relay.example
ca "judge" cert "$tmp/roots.pem"
action "on" relay host smtp+tls://$name tls ca "judge" helo relay.example
match from any for any action "on"
CONF
chmod 600 "$tmp/smtpd.conf"
# OpenSMTPD asks the resolver of the machine, which in this network is ours.
unshare --mount bash -c 'mount --bind "$1/etc/resolv.conf" /etc/resolv.conf && exec ip netns exec "$2" smtpd -d -f "$3"' _ "$root" "$net" "$tmp/smtpd.conf" \
  >"$tmp/smtpd.log" 2>&1 &
processes+=($!)
until_true 20 outside "$python" -c 'import socket; socket.create_connection(("192.0.2.1", 2525))' || fail "OpenSMTPD does not start"
outside swaks --server 192.0.2.1:2525 --from ada@example.com --to "$reply" --header "Subject: Re: Which colour?" --body "Green." >"$tmp/swaks.log" 2>&1 || fail "OpenSMTPD does not take the mail"
answered() { [ "$(api "https://$name/v1/messages?threadId=$thread" | grep -c '"direction":"inbound"')" -gt 0 ]; }
until_true 60 answered || fail "the answer does not arrive by OpenSMTPD"
grep -q 'mta tls ciphers=TLSv1.3' "$tmp/smtpd.log" && grep -q 'mta server-cert-check result="success"' "$tmp/smtpd.log" ||
  fail "OpenSMTPD did not verify the certificate"
echo "judge-server: openssl and OpenSMTPD accept the certificate of https by STARTTLS, and the answer is in its thread"
