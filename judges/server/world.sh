# Sourced by judge-server: a network of its own with a DNS server, a certificate
# authority and a bare Debian that systemd boots. All of it ends with the script.
#
#   192.0.2.1   the world: DNS (dnsmasq), the authority (pebble), a mail server
#   192.0.2.10  desk.example.com: the Debian, whose ports are the real ones
#   192.0.2.20  three.example.com: HAProxy before three processes on .21, .22 and .23
judge=$(basename "$0")
scripts/need ip iproute2
scripts/need dnsmasq dnsmasq-base
scripts/need pebble
scripts/need mmdebstrap
scripts/need systemd-nspawn systemd-container
scripts/need systemd-analyze systemd
scripts/need openssl
scripts/need haproxy
scripts/need smtpd opensmtpd
scripts/need swaks
perl -MNet::SSLeay -e 1 2>/dev/null || scripts/need "the module Net::SSLeay" libnet-ssleay-perl # swaks speaks TLS with it
[ "$(id -u)" = 0 ] || { echo "$judge: network namespaces and containers want root" >&2; exit 1; }
python=/usr/bin/python3
export PYTHONDONTWRITEBYTECODE=1
for name in $(compgen -e FRONTDESK_); do unset "$name"; done

tmp=$(mktemp -d)
chmod 755 "$tmp"
net=frontdesk-judge-$$
root=$tmp/root
name=desk.example.com
processes=()

finish() {
  local status=$?
  # The last one first: the Debian is told to stop, and takes what runs in it along.
  for ((n = ${#processes[@]} - 1; n >= 0; n--)); do
    kill "${processes[n]}" 2>/dev/null || true
    for ((i = 0; i < 100; i++)); do
      kill -0 "${processes[n]}" 2>/dev/null || break
      sleep 0.2
    done
    kill -KILL "${processes[n]}" 2>/dev/null || true
  done
  if [ "$status" -ne 0 ]; then
    for log in "$tmp"/*.log; do
      [ ! -s "$log" ] || { echo "$judge: $(basename "$log") says, at the end:" >&2; tail -n 30 "$log" >&2; }
    done
  fi
  ip netns del "$net" 2>/dev/null || true
  rm -rf --one-file-system "$tmp" || true
}
trap finish EXIT
trap 'exit 1' INT TERM

outside() { ip netns exec "$net" "$@"; }              # a command in the network
inside() { nsenter --target "$leader" --all -- "$@"; } # a command in the Debian
fail() { echo "$judge: $*" >&2; exit 1; }
# What this machine cannot do says nothing about us. It is said, and nothing is judged.
unable() {
  echo "$judge: NOT JUDGED, because this machine cannot $*" >&2
  tail -n 5 "$tmp"/debian.log "$tmp"/boot.log >&2 2>/dev/null || true
  exit 0
}
until_true() { # until_true SECONDS COMMAND…
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

ip netns add "$net" || unable "make a network namespace"
outside ip link set lo up
outside ip addr add 192.0.2.1/32 dev lo
outside ip addr add 192.0.2.10/32 dev lo

# Records are published by a line in this file, and seen when dnsmasq is told.
: >"$tmp/records.conf"
dns() {
  if [ -n "${dnsmasq:-}" ]; then kill "$dnsmasq"; while kill -0 "$dnsmasq" 2>/dev/null; do sleep 0.05; done; fi
  ip netns exec "$net" dnsmasq --keep-in-foreground --no-resolv --no-hosts --conf-file="$tmp/records.conf" --listen-address=192.0.2.1 \
    --bind-interfaces --user=root --pid-file= --local=/#/ --edns-packet-max=4096 >>"$tmp/dns.log" 2>&1 &
  dnsmasq=$!
  processes+=("$dnsmasq")
  until_true 20 outside "$python" -c 'import socket; s = socket.socket(); s.connect(("192.0.2.1", 53))' || fail "dnsmasq does not start"
}
dns

# An authority whose certificates live for 45 seconds: they are renewed after 30.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=authority -addext subjectAltName=IP:192.0.2.1 \
  -keyout "$tmp/authority.key" -out "$tmp/authority.pem" 2>/dev/null
cat >"$tmp/pebble.json" <<JSON
{"pebble": {"listenAddress": "192.0.2.1:14000", "managementListenAddress": "192.0.2.1:15000", "httpPort": 80, "tlsPort": 443,
  "certificate": "$tmp/authority.pem", "privateKey": "$tmp/authority.key", "certificateValidityPeriod": 45}}
JSON
PEBBLE_VA_NOSLEEP=1 ip netns exec "$net" pebble -config "$tmp/pebble.json" -dnsserver 192.0.2.1:53 >"$tmp/pebble.log" 2>&1 &
processes+=($!)
roots() { outside curl -sS --fail --cacert "$tmp/authority.pem" https://192.0.2.1:15000/roots/0 -o "$tmp/roots.pem"; }
until_true 20 roots || fail "pebble does not start"

# A bare Debian, from the same packages as this machine's.
sources=/etc/apt/sources.list.d/debian.sources
[ -e "$sources" ] || sources=/etc/apt/sources.list
. /etc/os-release
mmdebstrap --quiet --variant=essential --mode=root --include=systemd,systemd-sysv,dbus "$VERSION_CODENAME" "$root" "$sources" 2>"$tmp/debian.log" ||
  unable "make a Debian with mmdebstrap"
rm -f "$root/etc/resolv.conf"
echo nameserver 192.0.2.1 >"$root/etc/resolv.conf"
systemd-nspawn --quiet --directory="$root" --boot --register=no --keep-unit --resolv-conf=off --network-namespace-path="/run/netns/$net" \
  --console=read-only >"$tmp/boot.log" 2>&1 </dev/null &
processes+=($!)
booted() { leader=$(pgrep -P "${processes[-1]}" | head -1) && [ -n "$leader" ] && inside systemctl is-system-running --quiet; }
until_true 60 booted || unable "boot a Debian with systemd-nspawn"
