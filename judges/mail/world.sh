# Sourced by the judges of mail: starts OpenSMTPD, which keeps all mail in one
# folder, and the service, which sends through it; makes an organization and its
# key. Ends both with the script, and shows their logs when that fails.
judge=$(basename "$0")
scripts/need smtpd opensmtpd
scripts/need dkimverify python3-dkim
scripts/need swaks
perl -MNet::SSLeay -e 1 2>/dev/null || scripts/need "the module Net::SSLeay" libnet-ssleay-perl # swaks speaks TLS with it
scripts/need openssl
# Debian's own Python: another one before it knows nothing of Debian's modules.
python=/usr/bin/python3
"$python" -c 'import nacl' 2>/dev/null || scripts/need "the module nacl" python3-nacl
[ "$(id -u)" = 0 ] || { echo "$judge: OpenSMTPD starts only as root" >&2; exit 1; }

tmp=$(mktemp -d)
chmod 755 "$tmp"
server= relay=
finish() {
  local status=$?
  for process in $server $relay; do
    kill "$process" 2>/dev/null || true
    for ((i = 0; i < 50; i++)); do
      kill -0 "$process" 2>/dev/null || break
      sleep 0.2
    done
    kill -KILL "$process" 2>/dev/null || true
  done
  if [ "$status" -ne 0 ]; then
    for log in service relay; do
      [ ! -s "$tmp/$log.log" ] || { echo "$judge: the $log said, at the end:" >&2; tail -n 30 "$tmp/$log.log" >&2; }
    done
  fi
  rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 1' INT TERM

go build -o "$tmp/frontdesk" ./cmd/frontdesk
read -r api agents smtp mail_in dns < <("$python" -c '
import socket
held = [socket.socket() for _ in range(5)]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))')
# Nobody's settings but these.
for name in $(compgen -e FRONTDESK_); do unset "$name"; done

# All mail is kept in one folder, by a user who owns nothing else.
mkdir "$tmp/maildir"
chown nobody "$tmp/maildir"
cat >"$tmp/smtpd.conf" <<CONF
listen on 127.0.0.1 port $smtp hostname relay.example
action "keep" maildir "$tmp/maildir" virtual { "@" = "nobody" }
match from any for any action "keep"
CONF
chmod 600 "$tmp/smtpd.conf"
smtpd -d -f "$tmp/smtpd.conf" >"$tmp/relay.log" 2>&1 &
relay=$!

domain=mail.frontdesk.example
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$domain" -keyout "$tmp/key.pem" -out "$tmp/cert.pem" 2>/dev/null
"$tmp/frontdesk" serve --data "$tmp/data" --listen "127.0.0.1:$api" --mcp-listen "127.0.0.1:$agents" --dns-listen "127.0.0.1:$dns" --log-format json \
  --storage-reserve 0 `# the disk of a judge may be nearly full` \
  --mail-domain "$domain" --mail-provider smtp --smtp-host 127.0.0.1 --smtp-port "$smtp" --smtp-tls opportunistic \
  --smtp-listen "127.0.0.1:$mail_in" --smtp-tls-cert "$tmp/cert.pem" --smtp-tls-key "$tmp/key.pem" >"$tmp/service.log" 2>&1 &
server=$!
for ((i = 0; ; i++)); do
  "$python" -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "http://127.0.0.1:$api/readyz" 2>/dev/null && break
  kill -0 "$server" 2>/dev/null && [ "$i" -lt 100 ] || { echo "$judge: the service did not start" >&2; exit 1; }
  sleep 0.2
done

admin() { "$tmp/frontdesk" admin "$@" --data "$tmp/data" --json; }
field() { "$python" -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
made=$(admin org create --name Judges --plan enterprise)
org=$(field organizationId <<<"$made")
business=$(field businessId <<<"$made")
admin user create --org "$org" --email owner@example.com --name Owner --role owner --password-stdin <<<"a long password" >/dev/null
admin agreement accept --business "$business" --kind business --by owner@example.com >/dev/null
export API_URL=http://127.0.0.1:$api API_KEY MAILDIR=$tmp/maildir MAIL_DOMAIN=$domain MAIL_IN=127.0.0.1:$mail_in PYTHONDONTWRITEBYTECODE=1
API_KEY=$(admin key create --business "$business" --name Judge --permissions '*' | field key)
