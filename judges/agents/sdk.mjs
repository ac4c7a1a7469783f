// @modelcontextprotocol/sdk: registration, consent in a browser, list, call, refresh, call.
import assert from 'node:assert/strict'
import { personWithBrowser } from './browser.mjs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { connect, endpoint } from './connect.mjs'

const person = await personWithBrowser()
const { client, provider, asked } = await connect('Official SDK', person).finally(() => person.close())
assert.ok(provider.clientInformation().client_id, 'it registered')

// From here on the SDK holds each result against its tool's output schema.
const { tools } = await client.listTools()
const names = tools.map((t) => t.name)
assert.ok(names.includes('contacts_create') && names.includes('contacts_list'), `tools: ${names}`)

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args })
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`)
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, 'the text is the structured content')
  return result.structuredContent
}
const find = async (id) => (await call('contacts_list', {})).data.some((c) => c.id === id)

const { data: ada } = await call('contacts_create', { firstName: 'Ada', emails: [{ email: 'ada@example.com' }] })
assert.ok(await find(ada.id), 'the list has the new contact')

// A token that is no longer good: the SDK gets the next by itself.
const old = provider.tokens()
assert.ok(old.refresh_token, 'a refresh token was given')
provider.saveTokens({ ...old, access_token: 'expired' })
assert.ok(await find(ada.id), 'the list has it after the refresh')
const renewed = provider.tokens()
assert.notEqual(renewed.access_token, 'expired')
assert.notEqual(renewed.access_token, old.access_token)
assert.notEqual(renewed.refresh_token, old.refresh_token, 'the refresh token rotates')
assert.equal(asked.length, 1, 'nobody was asked again')

const refused = await client.callTool({ name: 'contacts_get', arguments: { id: '00000000-0000-4000-8000-000000000000' } })
assert.ok(refused.isError, 'a contact that is not there is a refusal')
await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), { code: -32602 })
// The same client at an address that asks for less: a few tools lead to all others.
const compact = new Client({ name: 'Official SDK', version: '1' })
await compact.connect(new StreamableHTTPClientTransport(new URL(endpoint + '?tools=compact'), { authProvider: provider }))
const few = (await compact.listTools()).tools.map((t) => t.name)
assert.ok(few.length < 20 && few.includes('tools_search'), `compact: ${few}`)
const found = await compact.callTool({ name: 'tools_search', arguments: { query: 'delete a contact' } })
assert.ok(found.structuredContent.tools.some((t) => t.name === 'contacts_delete'), found.content[0].text)
await compact.callTool({ name: 'tools_write', arguments: { name: 'contacts_delete', arguments: { id: ada.id } } })
assert.ok(!(await find(ada.id)), 'it is gone')
await compact.close()
assert.equal(asked.length, 1, 'nobody was asked again')
await client.transport.terminateSession()
await client.close()
console.log(`registered, approved in a browser, ${tools.length} tools, created and found a contact, refreshed, found it again, deleted it through a compact list`)
