// Litestream copies the database of a running service. Both are killed while contacts
// are created, and what Litestream has is restored: everything that was acknowledged
// two seconds before the end must be there. Litestream copies once in a second, and a
// busy machine may hold it up: three rounds of at most five must hold.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const { FRONTDESK, LITESTREAM, SCRATCH } = process.env;
const maxLoss = 2000; // milliseconds

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

function start(program, args) {
  const child = spawn(program, args, { stdio: "ignore" });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

function fail(why) {
  console.error("judge-litestream: " + why);
  process.exit(1);
}

async function freePort() {
  return new Promise((done) => {
    const s = createServer().listen(0, "127.0.0.1", () => {
      const { port } = s.address();
      s.close(() => done(port));
    });
  });
}

function admin(data, ...args) {
  return JSON.parse(execFileSync(FRONTDESK, ["--data", data, "admin", "--json", ...args], { input: "a long password\n",
    stdio: ["pipe", "pipe", "inherit"] }));
}

async function serve(data) {
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = start(FRONTDESK, ["serve", "--data", data, "--listen", new URL(url).host, "--mcp-listen", "",
    "--smtp-listen", "", "--dns-listen", "", "--rate-limit-enterprise", "60000000"]);
  for (let i = 0; i < 600; i++) {
    try {
      if ((await fetch(url + "/readyz")).ok) return { url, child };
    } catch { /* not yet */ }
    await sleep(50);
  }
  fail("the service does not start");
}

async function end(child, signal) {
  const gone = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  await gone;
}

async function round(n) {
  const data = join(SCRATCH, `data-${n}`), replica = join(SCRATCH, `replica-${n}`), back = join(SCRATCH, `back-${n}`);
  const org = admin(data, "org", "create", "--name", "Acme", "--plan", "enterprise");
  admin(data, "user", "create", "--org", org.id, "--email", "owner@example.com", "--name", "Owner", "--role", "owner",
    "--password-stdin");
  admin(data, "agreement", "accept", "--business", org.businessId, "--kind", "business", "--by", "owner@example.com");
  const { key } = admin(data, "key", "create", "--business", org.businessId, "--name", "Judge", "--permissions", "*");
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const service = await serve(data);
  const copier = start(LITESTREAM, ["replicate", join(data, "frontdesk.db"), "file://" + replica]);
  let acked = [], stopped = false, refused = 0;
  const write = async (worker) => {
    for (let i = 0; !stopped; i++) {
      try {
        const r = await fetch(service.url + "/v1/contacts", { method: "POST", headers,
          body: JSON.stringify({ lastName: `w${worker}-${i}` }) });
        const body = await r.json();
        if (r.status === 201) acked.push({ id: body.data.id, at: Date.now() });
        else if (refused++ === 0) console.error(`refused: ${r.status} ${JSON.stringify(body)}`);
      } catch { /* the service is gone */ }
      await sleep(2);
    }
  };
  const writers = [0, 1, 2, 3].map(write);
  await sleep(8000 + Math.random() * 2000);
  const killed = Date.now();
  await Promise.all([end(service.child, "SIGKILL"), end(copier, "SIGKILL")]);
  stopped = true;
  await Promise.all(writers);
  if (refused > 0) fail(`${refused} writes were refused beside Litestream`);

  mkdirSync(back, { mode: 0o700 });
  execFileSync(LITESTREAM, ["restore", "-o", join(back, "frontdesk.db"), "file://" + replica], { stdio: "pipe" });
  cpSync(join(data, "sealing.key"), join(back, "sealing.key"));
  if (existsSync(join(data, "files"))) cpSync(join(data, "files"), join(back, "files"), { recursive: true });
  const restored = await serve(back);
  const there = new Set();
  for (let cursor = "first"; cursor !== null;) {
    const r = await fetch(`${restored.url}/v1/contacts?limit=100&cursor=${cursor}`, { headers });
    const body = await r.json();
    if (!r.ok) fail(JSON.stringify(body));
    for (const c of body.data) there.add(c.id);
    cursor = body.meta.pagination.nextCursor;
  }
  await end(restored.child, "SIGTERM");
  const lost = acked.filter((c) => !there.has(c.id));
  const worst = lost.length ? killed - lost[0].at : 0;
  console.log(`round ${n}: ${acked.length} acknowledged, ${there.size} restored, ${lost.length} lost, ` +
    `the oldest of them ${worst} ms before the end`);
  if (acked.length < 200) fail("too few writes to say anything");
  return worst <= maxLoss;
}

let held = 0;
for (let n = 1; n <= 5 && held < 3; n++) if (await round(n)) held++;
if (held < 3) fail(`more than ${maxLoss} ms were lost`);
