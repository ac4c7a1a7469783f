// oauth4webapi: each answer of the authorization server, strictly validated.
import assert from 'node:assert/strict'
import * as oauth from 'oauth4webapi'
import { agentURL, endpoint, redirect } from './connect.mjs'
import { approve } from './person.mjs'

const plain = { [oauth.allowInsecureRequests]: true } // http, on this machine
const options = { ...plain, signal: () => AbortSignal.timeout(60_000) }

const about = await oauth.processResourceDiscoveryResponse(endpoint, await oauth.resourceDiscoveryRequest(endpoint, options))
assert.deepEqual(about.authorization_servers, [agentURL])
const issuer = new URL(about.authorization_servers[0])
const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, { ...options, algorithm: 'oauth2' }))
assert.ok(server.code_challenge_methods_supported.includes('S256'))

const client = await oauth.processDynamicClientRegistrationResponse(
  await oauth.dynamicClientRegistrationRequest(server, { client_name: 'Strict client', redirect_uris: [redirect], token_endpoint_auth_method: 'none' }, options),
)
const auth = oauth.None()

const verifier = oauth.generateRandomCodeVerifier()
const state = oauth.generateRandomState()
const resource = about.resource
const ask = new URL(server.authorization_endpoint)
ask.search = new URLSearchParams({
  client_id: client.client_id, redirect_uri: redirect, response_type: 'code', state, resource, scope: about.scopes_supported.join(' '),
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
})
// The metadata promise iss, so an answer without it, or with another, is refused here.
assert.equal(server.authorization_response_iss_parameter_supported, true)
const answer = oauth.validateAuthResponse(server, client, await approve(ask), state)

const withResource = { ...options, additionalParameters: { resource } }
const tokens = await oauth.processAuthorizationCodeResponse(
  server, client, await oauth.authorizationCodeGrantRequest(server, client, auth, answer, redirect, verifier, withResource),
)
const use = async (token) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'strict', version: '1' } } })
  const headers = new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' })
  return oauth.protectedResourceRequest(token, 'POST', endpoint, headers, body, options)
}
assert.equal((await use(tokens.access_token)).status, 200)

const renewed = await oauth.processRefreshTokenResponse(server, client, await oauth.refreshTokenGrantRequest(server, client, auth, tokens.refresh_token, withResource))
assert.equal((await use(renewed.access_token)).status, 200)

// A refusal has the form that it should have, too.
await assert.rejects(
  oauth.refreshTokenGrantRequest(server, client, auth, renewed.refresh_token, { ...options, additionalParameters: { resource: 'https://elsewhere.example/mcp' } })
    .then((res) => oauth.processRefreshTokenResponse(server, client, res)),
  { name: 'ResponseBodyError', error: 'invalid_target' },
)

await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, auth, renewed.refresh_token, options))
await assert.rejects(use(renewed.access_token), (err) => err.code === oauth.WWW_AUTHENTICATE_CHALLENGE && err.status === 401)
console.log('discovery, registration, code with PKCE, resource and iss, token, refresh, refusal and revocation are valid')
