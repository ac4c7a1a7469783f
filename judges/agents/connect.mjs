// A connection by the official SDK and its own keeper of clients and tokens.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { InMemoryOAuthClientProvider } from '@modelcontextprotocol/sdk/examples/client/simpleOAuthClientProvider.js'
import { approve } from './person.mjs'

export const agentURL = process.env.AGENT_URL
export const endpoint = new URL(agentURL + '/mcp')
export const redirect = 'http://127.0.0.1:7777/callback'

// The person is a redirect URI and how to approve: without a browser unless told.
export async function connect(name, person = { redirect, approve }) {
  const asked = []
  const provider = new InMemoryOAuthClientProvider(
    person.redirect,
    { client_name: name, redirect_uris: [person.redirect], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    (url) => asked.push(url),
  )
  const state = randomUUID()
  provider.state = () => state
  const client = new Client({ name, version: '1' })
  const first = new StreamableHTTPClientTransport(endpoint, { authProvider: provider })
  await assert.rejects(client.connect(first), UnauthorizedError)
  assert.equal(asked.length, 1, 'the person is asked once')
  const back = await person.approve(asked[0])
  assert.equal(back.searchParams.get('state'), state)
  assert.equal(back.searchParams.get('iss'), agentURL)
  await first.finishAuth(back.searchParams.get('code'))
  await client.connect(new StreamableHTTPClientTransport(endpoint, { authProvider: provider }))
  return { client, provider, asked }
}
