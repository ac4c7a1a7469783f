// @modelcontextprotocol/inspector: its command line lists and calls with a token.
import assert from 'node:assert/strict'
import { connect, endpoint } from './connect.mjs'
import { run } from './run.mjs'

const { client, provider } = await connect('Inspector')
await client.close()
const bearer = `Authorization: Bearer ${provider.tokens().access_token}`

const seen = []
for (const era of ['legacy', 'modern']) { // with sessions, and without
  const inspect = async (...args) =>
    JSON.parse(await run('mcp-inspector', '--cli', endpoint.href, '--protocol-era', era, '--stored-auth-only', '--header', bearer, ...args))
  const { protocolVersion } = await inspect('--method', 'initialize')
  const { tools } = await inspect('--method', 'tools/list', '--strict')
  const made = await inspect('--method', 'tools/call', '--tool-name', 'contacts_create', '--tool-args-json', '{"firstName":"Grace"}')
  const { id } = made.structuredContent.data
  const list = await inspect('--method', 'tools/call', '--tool-name', 'contacts_list')
  assert.ok(list.structuredContent.data.some((c) => c.id === id), 'the list has the new contact')
  seen.push(`${protocolVersion}, ${tools.length} tools without schema errors, created and found a contact`)
}
console.log(seen.join('; '))
