// @modelcontextprotocol/sdk and the inspector: a call that a person must decide. The
// person approves in Chromium, on the page that the answer names.
import assert from 'node:assert/strict'
import { decideInBrowser, personWithBrowser } from './browser.mjs'
import { connect, endpoint } from './connect.mjs'
import { run } from './run.mjs'

const person = await personWithBrowser()
const { client, provider } = await connect('Asking SDK', person).finally(() => person.close())
const { tools } = await client.listTools()
assert.ok(tools.some((t) => t.name === 'contacts_delete'), 'a tool that must ask is listed')

const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args })
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`)
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, 'the text is the structured content')
  return result.structuredContent
}
const { data: ada } = await call('contacts_create', { firstName: 'Ada' })
const waiting = await call('contacts_delete', { id: ada.id })
assert.equal(waiting.status, 'pending_approval')
assert.equal(waiting.effects[0].kind, 'delete')
assert.match(waiting.next, /proposals_get/)
assert.equal((await call('contacts_get', { id: ada.id })).data.id, ada.id, 'nothing was done')
assert.equal((await call('contacts_delete', { id: ada.id })).proposalId, waiting.proposalId, 'the same call asks once')

// The inspector's command line sees the same.
const bearer = `Authorization: Bearer ${provider.tokens().access_token}`
const seen = JSON.parse(await run('mcp-inspector', '--cli', endpoint.href, '--stored-auth-only', '--header', bearer,
  '--method', 'tools/call', '--tool-name', 'contacts_delete', '--tool-args-json', JSON.stringify({ id: ada.id })))
assert.equal(seen.structuredContent.proposalId, waiting.proposalId, 'another client of the agent finds it')

const decided = call('proposals_get', { id: waiting.proposalId, waitSeconds: 40 })
await decideInBrowser(waiting.approvalUrl, 'approve')
let answer = await decided // the browser may take longer than an answer waits
for (let i = 0; i < 5 && answer.data.status === 'pending'; i++) answer = await call('proposals_get', { id: waiting.proposalId, waitSeconds: 40 })
assert.equal(answer.data.status, 'executed')
const gone = await client.callTool({ name: 'contacts_get', arguments: { id: ada.id } })
assert.ok(gone.isError, 'the contact is deleted')
assert.deepEqual(await call('contacts_delete', { id: ada.id }), {}, 'the same call answers with its result')

// Rejected, the model reads why.
const { data: eve } = await call('contacts_create', { firstName: 'Eve' })
const second = await call('contacts_delete', { id: eve.id })
await decideInBrowser(second.approvalUrl, 'reject', 'We keep her.')
const no = await call('contacts_delete', { id: eve.id })
assert.equal(no.status, 'rejected')
assert.equal(no.reason, 'We keep her.')
await client.close()
console.log('asked, approved and rejected in a browser, answered with the result')
