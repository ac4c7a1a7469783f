# Sourced by judge-server: the image is small and starts, and the compose files are
# what compose understands.
scripts/need buildah
scripts/need podman
scripts/need runc
scripts/need docker-compose
scripts/need caddy
store=(--storage-driver=vfs --root "$tmp/images" --runroot "$tmp/images-run")
buildah "${store[@]}" bud --quiet --isolation=chroot -t frontdesk -f "$release/Containerfile" "$release" >"$tmp/image.log" 2>&1 || fail "the image cannot be built"
size=$(podman "${store[@]}" image inspect --format '{{.Size}}' frontdesk)
[ "$size" -le $((64 << 20)) ] || fail "the image has $size bytes"
# As little as a container can have: no rights, nothing to write to but its data.
podman "${store[@]}" --cgroup-manager=cgroupfs --runtime runc run --rm --name "$net" --network "ns:/run/netns/$net" --ulimit nofile=4096:4096 --ulimit nproc=1000:1000 \
  --read-only --cap-drop=all --security-opt=no-new-privileges -v "$net:/data" -e FRONTDESK_LISTEN=127.0.0.1:8080 -e FRONTDESK_MCP_LISTEN=127.0.0.1:8080 \
  -e FRONTDESK_SMTP_LISTEN= -e FRONTDESK_DNS_LISTEN= frontdesk >"$tmp/container.log" 2>&1 &
processes+=($!)
until_true 60 outside curl -sS --fail http://127.0.0.1:8080/readyz || fail "the container does not start"
until_true 20 grep -q 'http://127.0.0.1:8080/setup/' "$tmp/container.log" || fail "the container prints no link"
podman "${store[@]}" --cgroup-manager=cgroupfs --runtime runc stop --time 20 "$net" >/dev/null
echo "judge-server: the image has $size bytes, and its container serves"

printf 'FRONTDESK_DOMAIN=%s\nPASSWORD=secret\n' "$name" >"$tmp/env"
for file in compose compose-three; do
  docker-compose --env-file "$tmp/env" -f "$release/$file.yaml" config --quiet || fail "compose does not understand $file.yaml"
  if docker-compose -f "$release/$file.yaml" config --quiet 2>/dev/null; then fail "$file.yaml does without a name"; fi
done
FRONTDESK_DOMAIN=$name caddy validate --adapter caddyfile --config "$release/Caddyfile" >"$tmp/caddy.log" 2>&1 || fail "caddy does not understand the Caddyfile"
echo "judge-server: docker-compose and caddy understand their files"
