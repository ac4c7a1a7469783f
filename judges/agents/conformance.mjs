// @modelcontextprotocol/conformance: the server scenarios that need no tools,
// prompts or resources of their own. The others test a server made for them, or
// what Frontdesk does not offer: subscriptions and resumable streams.
import assert from 'node:assert/strict'
import http from 'node:http'
import { connect, endpoint } from './connect.mjs'
import { run } from './run.mjs'

const scenarios = [
  'server-initialize', 'ping', 'logging-set-level', 'tools-list', 'resources-list', 'prompts-list', 'server-sse-multiple-streams', 'dns-rebinding-protection',
]

const { client, provider } = await connect('Conformance')
await client.close()

// It cannot be given a token. This passes on what it sends, its Host included,
// and adds one.
const bearer = `Bearer ${provider.tokens().access_token}`
const proxy = http.createServer((req, res) => {
  const onward = http.request(endpoint, { method: req.method, path: req.url, headers: { ...req.headers, authorization: bearer } }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers)
    answer.pipe(res)
  })
  onward.on('error', () => res.destroy())
  req.pipe(onward)
})
await new Promise((done) => proxy.listen(0, '127.0.0.1', done))
try {
  for (const scenario of scenarios) {
    const out = await run('conformance', 'server', '--url', `http://127.0.0.1:${proxy.address().port}/mcp`, '--scenario', scenario)
    assert.match(out, /Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/, out)
  }
} finally {
  proxy.close()
  proxy.closeAllConnections()
}
console.log(`passes ${scenarios.join(', ')}`)
