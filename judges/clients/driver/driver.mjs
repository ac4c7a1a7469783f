// Does what each line of standard input says with the client for TypeScript,
// and answers with a line. See driver.go for the words.
import { createInterface } from 'node:readline'
import { openAsBlob } from 'node:fs'
import { pathToFileURL } from 'node:url'

const frontdesk = await import(pathToFileURL(process.env.CLIENT).href)
const { Frontdesk, ApiError, TimeoutError, ConnectionError, WebhookError, verifyWebhook } = frontdesk

const clients = new Map()
function clientFor(via = {}) {
  const name = JSON.stringify(via)
  if (!clients.has(name)) clients.set(name, new Frontdesk(via))
  return clients.get(name)
}

const camel = (s) => s.replace(/_([a-z0-9])/g, (_, c) => c.toUpperCase())

// Calls a method by its name: the path, the input where it takes one, the options.
function invoke(client, { call, path = [], input, query }, options) {
  const words = call.split('.').map(camel)
  const verb = words.pop()
  const noun = words.reduce((at, word) => at[word], client)
  const inputs = noun[verb].length > path.length + 1 ? [input ?? query] : []
  return noun[verb](...path, ...inputs, options)
}

const verbs = {
  call: (client, step) => invoke(client, step, step.options),
  async etag(client, step) {
    let etag
    await invoke(client, step, { onResponse: (r) => { etag = r.headers.get('etag') } })
    return etag
  },
  page: (client, step) => invoke(client, step).then((page) => page),
  async all(client, step) {
    const out = []
    for await (const row of invoke(client, step)) out.push(row)
    return out
  },
  async upload(client, { file, name }) {
    return client.files.upload({ file: { name, data: await openAsBlob(file) } })
  },
  async stream(client, { text, name }) {
    async function* pieces() { for (const word of text.split(' ')) yield new TextEncoder().encode(word) }
    return client.files.upload({ file: { name, data: pieces() } })
  },
  async download(client, step) {
    const file = await invoke(client, step)
    const parts = []
    for await (const part of file.stream) parts.push(part)
    const bytes = Buffer.concat(parts)
    return { name: file.name, type: file.contentType, text: bytes.subarray(0, 5).toString(), size: bytes.length > 0 }
  },
  async verify(_, { body, headers, secret }) {
    return verifyWebhook(body, headers, secret)
  },
  wait: (client, { path }) => client.proposals.wait(path[0]),
  async hammer(client, { n, from }) {
    for (let i = 0; i < n; i++) await client.contacts.create({ firstName: `H-${from + i}` })
    return n
  },
  async bench(client, { n, path }) {
    const url = `${process.env.FRONTDESK_URL}/v1/contacts/${path[0]}`
    const headers = { authorization: `Bearer ${process.env.FRONTDESK_API_KEY}` }
    const bare = async () => (await (await fetch(url, { headers })).json()).data
    return measure(n, () => client.contacts.get(path[0]), bare)
  },
}

async function measure(n, ours, bare) {
  const times = { ours: [], bare: [] }
  for (let i = 0; i < n; i++) {
    for (const [name, run] of i % 2 ? [['ours', ours], ['bare', bare]] : [['bare', bare], ['ours', ours]]) {
      const began = process.hrtime.bigint()
      await run()
      times[name].push(Number(process.hrtime.bigint() - began) / 1000)
    }
  }
  const median = (list) => list.sort((a, b) => a - b)[list.length >> 1]
  return { ours: median(times.ours), bare: median(times.bare) }
}

function describe(error) {
  if (error instanceof ApiError) {
    const { status, code, fields, requestId, retryAfter } = error
    return { kind: 'api', status, code, fields, requestId: Boolean(requestId), retryAfter: Boolean(retryAfter) }
  }
  if (error instanceof TimeoutError) return { kind: 'timeout' }
  if (error instanceof ConnectionError) return { kind: 'connection' }
  if (error instanceof WebhookError) return { kind: 'webhook' }
  return { kind: `unexpected: ${error.stack}` }
}

for await (const line of createInterface({ input: process.stdin })) {
  const step = JSON.parse(line)
  let answer
  try {
    answer = { data: (await verbs[step.do](clientFor(step.via), step)) ?? null }
  } catch (error) {
    answer = { error: describe(error) }
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
