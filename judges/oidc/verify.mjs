// A service whose people sign in with oidc-provider.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { randomUUID } from 'node:crypto'
import { Browser } from './browser.mjs'
import { people, start } from './provider.mjs'

const { FRONTDESK, SCRATCH } = process.env
const data = `${SCRATCH}/data`
const secret = `${randomUUID()}+/=` // has to be encoded in the header (RFC 6749 §2.3.1)

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => { const { port } = server.address(); server.close(() => resolve(port)) })
})

function admin(...args) {
  const { stdout, stderr, status } = spawnSync(FRONTDESK, ['admin', ...args, '--data', data, '--json'], { input: 'a long password\n', encoding: 'utf8', timeout: 60_000 })
  assert.equal(status, 0, `${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout)
}

const [port, there] = [await freePort(), await freePort()]
const site = `http://127.0.0.1:${port}`
const redirect = `${site}/sign-in/provider/callback`

const org = admin('org', 'create', '--name', 'Acme').organizationId
admin('user', 'create', '--org', org, '--email', 'owner@example.com', '--name', 'Owner', '--role', 'owner', '--password-stdin')
const role = (email) => admin('user', 'list', '--org', org).find((m) => m.email === email)?.role

async function serve(...more) {
  const server = spawn(FRONTDESK, ['serve', '--data', data, '--listen', `127.0.0.1:${port}`, '--base-url', site, '--mcp-listen', '',
    '--dns-listen', '127.0.0.1:0', '--smtp-listen', '', '--oidc-issuer', `http://127.0.0.1:${there}`, '--oidc-client-id', 'frontdesk',
    '--oidc-client-secret', secret, '--oidc-name', 'Acme ID', '--oidc-scopes', 'email,profile,groups', '--oidc-organization', org,
    '--oidc-create', '--oidc-roles', 'bosses=owner,staff=member', ...more], { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = new Promise((resolve) => server.on('exit', resolve))
  for (let i = 0; ; i++) {
    if (await fetch(`${site}/readyz`, { signal: AbortSignal.timeout(2000) }).then((r) => r.ok, () => false)) break
    assert.ok(i < 150 && server.exitCode === null, 'the service did not start')
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return async () => { server.kill('SIGTERM'); await ended }
}

let provider = await start(there, redirect, secret)
let stop = await serve('--log-level', 'warn')
let checks = 0
const check = (page, status, text) => {
  checks++
  assert.equal(page.status, status, `${page.url}: ${page.text}`)
  assert.ok(page.text.includes(text), `no ${text} at ${page.url}: ${page.text}`)
  return page
}
try {
  // Somebody who has an account, found by the verified address, goes where they wanted.
  people.set('owner', { email: 'owner@example.com', email_verified: true, name: 'Owner', groups: ['bosses'] })
  const owner = new Browser()
  check(await owner.signIn(site, 'owner', '/settings/sign-in'), 200, 'Your account is linked')
  assert.equal((await owner.get(`${site}/settings/keys`)).status, 200)

  // Somebody whom nobody knows, with the role of their groups, which follows them.
  people.set('ada', { email: 'ada@example.com', email_verified: true, name: 'Ada Lovelace', groups: ['staff'] })
  check(await new Browser().signIn(site, 'ada'), 200, 'Today')
  assert.equal(role('ada@example.com'), 'member')
  people.get('ada').groups = ['staff', 'bosses']
  const ada = new Browser()
  check(await ada.signIn(site, 'ada'), 200, 'Today')
  assert.equal(role('ada@example.com'), 'owner')
  // Her address changes there: she is still the same person.
  people.get('ada').email = 'lovelace@example.com'
  check(await new Browser().signIn(site, 'ada'), 200, 'Today')
  // Her groups are gone, and so is her role, here too.
  people.get('ada').groups = []
  check(await new Browser().signIn(site, 'ada'), 403, 'no longer belong')
  assert.equal(role('ada@example.com'), undefined)
  check(await ada.get(`${site}/contacts`), 200, 'Sign in with Acme ID')

  // Those who are nobody here.
  people.set('eve', { email: 'owner@example.com', email_verified: false, name: 'Eve', groups: ['bosses'] })
  check(await new Browser().signIn(site, 'eve'), 403, 'has not verified')
  people.set('mallory', { email: 'owner@example.com', email_verified: true, name: 'Mallory', groups: ['bosses'] })
  check(await new Browser().signIn(site, 'mallory'), 409, 'belongs to somebody else')
  people.set('guest', { email: 'guest@example.com', email_verified: true, name: 'Guest', groups: ['guests'] })
  check(await new Browser().signIn(site, 'guest'), 403, 'None of your groups')
  check(await new Browser().get(`${redirect}?error=access_denied`), 403, 'You were not signed in')

  // The provider gets new keys.
  await provider.stop()
  assert.deepEqual(provider.problems, [])
  provider = await start(there, redirect, secret)
  check(await new Browser().signIn(site, 'owner'), 200, 'Today')

  // Passwords are switched off, and the provider is gone: the operator helps.
  await stop()
  stop = await serve('--log-level', 'error', '--oidc-only')
  check(await new Browser().post(`${site}/sign-in`, { email: 'owner@example.com', password: 'a long password' }), 403, 'Passwords are switched off')
  check(await new Browser().signIn(site, 'owner'), 200, 'Today')
  await provider.stop()
  assert.deepEqual(provider.problems, [])
  const link = admin('user', 'sign-in-link', 'owner@example.com').url
  check(await new Browser().post(link, {}), 200, 'Today')
  check(await new Browser().post(link, {}), 404, 'This link was used')
  console.log(`oidc-provider: ${checks} pages as expected`)
} finally {
  await stop()
  await provider.stop().catch(() => {})
}
