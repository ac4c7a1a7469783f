// @modelcontextprotocol/client, version 2 of the SDK: a call that a person must
// decide, with sessions (2025-11-25) and without (2026-07-28), and a client that can
// show a person an address.
import assert from 'node:assert/strict'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { decideInBrowser } from './browser.mjs'
import { connect, endpoint } from './connect.mjs'

// The first version of the SDK gets the token.
const { client: first, provider } = await connect('Asking SDK 2')
await first.close()
const headers = { authorization: `Bearer ${provider.tokens().access_token}` }

async function open(mode, capabilities = {}) {
  const client = new Client({ name: 'Asking', version: '2' }, { capabilities, versionNegotiation: { mode } })
  return {
    client,
    async start() {
      await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } }))
      await client.listTools() // from here on each result is held against its tool's output schema
    },
    async call(name, args) {
      const result = await client.callTool({ name, arguments: args })
      assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`)
      assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, 'the text is the structured content')
      return result.structuredContent
    },
  }
}

const seen = []
for (const mode of ['legacy', { pin: '2026-07-28' }]) {
  const version = mode.pin ?? mode
  const plain = await open(mode)
  await plain.start()
  const { data: ada } = await plain.call('contacts_create', { firstName: 'Ada' })
  const waiting = await plain.call('contacts_delete', { id: ada.id })
  assert.equal(waiting.status, 'pending_approval')
  assert.match(waiting.next, /proposals_get/)
  assert.equal((await plain.call('contacts_delete', { id: ada.id })).proposalId, waiting.proposalId, 'the same call asks once')
  const decided = plain.call('proposals_get', { id: waiting.proposalId, waitSeconds: 40 })
  await decideInBrowser(waiting.approvalUrl, 'approve')
  let answer = await decided // the browser may take longer than an answer waits
  for (let i = 0; i < 5 && answer.data.status === 'pending'; i++) answer = await plain.call('proposals_get', { id: waiting.proposalId, waitSeconds: 40 })
  assert.equal(answer.data.status, 'executed')
  assert.deepEqual(await plain.call('contacts_delete', { id: ada.id }), {}, 'the same call answers with its result')

  // A client that can show a person an address is given it that way.
  const showing = await open(mode, { elicitation: { url: {} } })
  const shown = []
  showing.client.setRequestHandler('elicitation/create', async ({ params }) => {
    shown.push(params)
    await decideInBrowser(params.url, 'approve')
    return { action: 'accept' }
  })
  await showing.start()
  const { data: eve } = await showing.call('contacts_create', { firstName: 'Eve' })
  if (mode === 'legacy') {
    const refused = await showing.client.callTool({ name: 'contacts_delete', arguments: { id: eve.id } }).then(
      (result) => assert.fail(`answered ${JSON.stringify(result)}`), (err) => err)
    assert.equal(refused.code, -32042, String(refused))
    const [asked] = refused.data?.elicitations ?? refused.elicitations
    shown.push(asked)
    await decideInBrowser(asked.url, 'approve')
    assert.deepEqual(await showing.call('contacts_delete', { id: eve.id }), {}, 'the second try answers with the result')
  } else {
    assert.deepEqual(await showing.call('contacts_delete', { id: eve.id }), {}, 'once shown, it answers with the result')
  }
  assert.equal(shown.length, 1)
  assert.equal(shown[0].mode, 'url')
  assert.match(shown[0].url, /\/review\//)
  assert.ok((await showing.client.callTool({ name: 'contacts_get', arguments: { id: eve.id } })).isError, 'the contact is deleted')
  seen.push(version)
  await plain.client.close()
  await showing.client.close()
}
console.log(`asked, approved in a browser and answered, by result and by address, in ${seen.join(' and ')}`)
