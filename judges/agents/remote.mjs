// mcp-remote: the bridge for programs that only start servers of their own. Here
// the official SDK starts it, as a desktop program would. It gets its token by
// OAuth, keeps it for the next start, and takes one in a header.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { agentURL, connect, endpoint } from './connect.mjs'
import { approve } from './person.mjs'

const asked = []

// Starts mcp-remote with these arguments, and gives what use returns.
async function bridge(folder, args, env, use) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['node_modules/.bin/mcp-remote', endpoint.href, '--host', '127.0.0.1', '--callback-path', '/callback', ...args],
    env: { ...env, HOME: process.env.SCRATCH, PATH: process.env.PATH, MCP_REMOTE_CONFIG_DIR: `${process.env.SCRATCH}/${folder}`, BROWSER: 'true' },
    stderr: 'pipe',
  })
  let said = ''
  const visits = []
  transport.stderr.on('data', (part) => {
    said += part
    const url = /Please authorize this client by visiting:\s+(\S+)\s/.exec(said)?.[1]
    if (!url || visits.length) return
    asked.push(url)
    // The person's browser goes to the program's own page at the end.
    visits.push(approve(url).then((back) => fetch(back, { signal: AbortSignal.timeout(60_000) })).catch((err) => err))
  })
  const client = new Client({ name: 'Desktop program', version: '1' })
  try {
    await client.connect(transport, { timeout: 60_000 })
    return await use(client)
  } catch (err) {
    throw new Error(`mcp-remote said:\n${said}\nand the person came to: ${String(await visits[0])}`, { cause: err })
  } finally {
    await client.close()
  }
}

// Lists the tools, creates a contact and finds it.
const work = (firstName) => async (client) => {
  const { tools } = await client.listTools()
  assert.ok(tools.some((t) => t.name === 'contacts_create'), `${tools.length} tools`)
  const made = await client.callTool({ name: 'contacts_create', arguments: { firstName } })
  const found = await client.callTool({ name: 'contacts_get', arguments: { id: made.structuredContent.data.id } })
  assert.equal(found.structuredContent.data.firstName, firstName)
  const refused = await client.callTool({ name: 'contacts_create', arguments: { birthday: 'soon' } })
  assert.ok(refused.isError && refused.structuredContent.error.code === 'VALIDATION_ERROR', JSON.stringify(refused))
  return tools.length
}

const tools = await bridge('oauth', [], {}, work('Mary'))
assert.ok(asked.length === 1 && asked[0].startsWith(agentURL), `the person is asked once: ${asked}`)
assert.equal(await bridge('oauth', [], {}, work('Anne')), tools)
assert.equal(await bridge('oauth', ['--protocol', 'auto'], {}, work('Maria')), tools)
assert.equal(asked.length, 1, 'nobody is asked again')

const { client, provider } = await connect('Token for a header')
await client.close()
const header = ['--header', 'Authorization:${TOKEN}']
assert.equal(await bridge('header', header, { TOKEN: `Bearer ${provider.tokens().access_token}` }, work('Jane')), tools)
assert.equal(asked.length, 1, 'a header needs nobody')
console.log(`${tools} tools over standard input and output, by OAuth, by its kept token, without sessions, and with a header`)
