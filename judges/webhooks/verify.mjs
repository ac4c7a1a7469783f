// A receiver as others would write it: Node's own server, and the library of
// Standard Webhooks. The service is the real binary, in a process of its own.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { Webhook } from 'standardwebhooks'

const { FRONTDESK, SCRATCH } = process.env
const execute = promisify(execFile)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

const arrived = []
let status = 204
const receiver = createServer(async (req, res) => {
  const parts = []
  for await (const part of req) parts.push(part)
  arrived.push({ headers: req.headers, body: Buffer.concat(parts).toString() })
  res.writeHead(status).end()
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const address = `http://127.0.0.1:${receiver.address().port}/hook`

async function wait(n) {
  for (const deadline = Date.now() + 20_000; arrived.length < n; await pause(20)) assert.ok(Date.now() < deadline, `${arrived.length} of ${n} arrived`)
  return arrived[n - 1]
}

const data = `${SCRATCH}/data`
const listen = `127.0.0.1:${await freePort()}`
const service = spawn(FRONTDESK, ['serve', '--data', data, '--listen', listen, '--mcp-listen', '', '--dns-listen', '127.0.0.1:0', '--smtp-listen', '', '--allow-insecure-webhooks', '--log-level', 'warn'], { stdio: ['ignore', 'ignore', 'inherit'] })
try {
  for (const deadline = Date.now() + 20_000; ; await pause(50)) {
    const res = await fetch(`http://${listen}/readyz`).catch(() => undefined)
    if (res?.ok) break
    assert.ok(Date.now() < deadline && service.exitCode === null, 'the service did not start')
  }
  const admin = async (...args) => JSON.parse((await execute(FRONTDESK, ['admin', ...args, '--data', data, '--json'])).stdout)
  const org = await admin('org', 'create', '--name', 'Judges', '--plan', 'enterprise')
  const owner = execFile(FRONTDESK, ['admin', 'user', 'create', '--org', org.organizationId, '--email', 'owner@example.com', '--name', 'Owner', '--role', 'owner', '--password-stdin', '--data', data])
  owner.stdin.end('a long password\n')
  await once(owner, 'exit')
  await admin('agreement', 'accept', '--business', org.businessId, '--kind', 'business', '--by', 'owner@example.com')
  const { key } = await admin('key', 'create', '--business', org.businessId, '--name', 'Judge', '--permissions', '*')
  const call = async (method, path, body) => {
    const res = await fetch(`http://${listen}/v1${path}`, { method, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, body: body && JSON.stringify(body) })
    const answer = await res.json()
    assert.ok(res.ok, JSON.stringify(answer))
    return answer.data
  }

  const hook = await call('POST', '/webhooks', { url: address, events: ['contact.created'] })
  const contact = await call('POST', '/contacts', { firstName: 'Zoë', lastName: 'Müller ✓' })
  const first = await wait(1)
  const event = new Webhook(hook.secret).verify(first.body, first.headers)
  assert.equal(event.type, 'contact.created')
  assert.deepEqual(event.data, contact)
  assert.equal(event.id, first.headers['webhook-id'])
  assert.ok(!Number.isNaN(Date.parse(event.timestamp)))
  assert.throws(() => new Webhook(hook.secret).verify(first.body.replace('Zoë', 'Zoe'), first.headers), 'a changed body')
  assert.throws(() => new Webhook(hook.secret).verify(first.body, { ...first.headers, 'webhook-id': 'another' }), 'a changed id')
  assert.throws(() => new Webhook(`whsec_${btoa('0'.repeat(32))}`).verify(first.body, first.headers), 'another secret')

  const rotated = await call('POST', `/webhooks/${hook.id}/rotate-secret`)
  await call('POST', '/contacts', { firstName: 'Grace' })
  const both = await wait(2)
  for (const secret of [hook.secret, rotated.secret]) assert.equal(new Webhook(secret).verify(both.body, both.headers).data.firstName, 'Grace')

  const tested = await call('POST', `/webhooks/${hook.id}/test`)
  assert.equal(tested.status, 'succeeded')
  const test = await wait(3)
  assert.equal(new Webhook(rotated.secret).verify(test.body, test.headers).type, 'webhook.test')

  status = 500
  await call('POST', '/contacts', { firstName: 'Hedy' })
  const refused = await wait(4)
  status = 200
  const again = await wait(5) // some five seconds later
  assert.equal(again.headers['webhook-id'], refused.headers['webhook-id'])
  assert.equal(again.body, refused.body)
  new Webhook(rotated.secret).verify(again.body, again.headers)

  // A story: a contact comes in, the automation makes a task and sends a mail,
  // and the endpoint hears of the task.
  const seen = arrived.length
  const ledger = await call('POST', '/webhooks', { url: address, events: ['task.created'] })
  await call('PATCH', `/webhooks/${hook.id}`, { status: 'disabled' })
  const automation = await call('POST', '/automations', {
    name: 'Welcome', trigger: { kind: 'event', event: 'contact.created' }, condition: 'size(event.data.emails) > 0',
    steps: [
      { operation: 'tasks.create', input: { title: 'Call {{ event.data.firstName }}', contactId: '{{ event.resourceId }}' }, saveAs: 'task' },
      { operation: 'messages.create', input: { to: '{{ event.data.emails.0.email }}', subject: 'Welcome, {{ event.data.firstName }}', text: 'We will call you. ({{ task.id }})' } }
    ]
  })
  await call('POST', '/contacts', { firstName: 'Nobody' }) // the condition does not hold
  const ada = await call('POST', '/contacts', { firstName: 'Ada', emails: [{ email: 'ada@example.com' }] })
  const told = await wait(seen + 1)
  const task = new Webhook(ledger.secret).verify(told.body, told.headers)
  assert.equal(task.type, 'task.created')
  assert.equal(task.data.title, 'Call Ada')
  assert.equal(task.data.contactId, ada.id)
  assert.equal(task.actorKind, 'automation')
  assert.equal(task.actorId, automation.id)
  for (const deadline = Date.now() + 60_000; ; await pause(50)) {
    const [mail] = await call('GET', '/messages?query=ada@example.com')
    if (mail?.status === 'sent') {
      assert.equal(mail.subject, 'Welcome, Ada')
      break
    }
    assert.ok(Date.now() < deadline, 'the mail did not leave')
  }
  for (const deadline = Date.now() + 60_000; ; await pause(50)) {
    const executions = await call('GET', `/automations/${automation.id}/executions?sortOrder=asc`)
    const statuses = executions.map((e) => e.status)
    if (statuses.includes('running') && Date.now() < deadline) continue // its mail may be quicker
    assert.deepEqual(statuses, ['skipped', 'succeeded'])
    break
  }
  console.log(`${arrived.length} requests verified`)
} finally {
  if (service.exitCode === null) {
    const impatient = setTimeout(() => service.kill('SIGKILL'), 10_000)
    service.kill()
    await once(service, 'exit')
    clearTimeout(impatient)
  }
  receiver.close()
}
