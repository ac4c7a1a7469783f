// oidc-provider with a few people, on a port of this machine. Its own pages for
// development ask who signs in.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import Provider from 'oidc-provider'

// What the provider knows about people, by the name that they sign in with.
export const people = new Map()

const newKey = () => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  kid: randomUUID(), use: 'sig', alg: 'ES256',
})

// start serves until the returned function is called. Each start has keys of its own.
export async function start(port, redirect, secret) {
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'frontdesk', client_secret: secret, redirect_uris: [redirect], grant_types: ['authorization_code'],
      response_types: ['code'], id_token_signed_response_alg: 'ES256', token_endpoint_auth_method: 'client_secret_basic',
    }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    pkce: { required: () => true },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    cookies: { keys: [randomUUID()] },
    jwks: { keys: [newKey()] },
    findAccount: (_, id) => people.has(id) ? { accountId: id, claims: () => ({ sub: id, ...people.get(id) }) } : undefined,
  })
  const problems = []
  provider.on('server_error', (_, err) => problems.push(err))
  const server = provider.listen(port, '127.0.0.1')
  await new Promise((resolve, reject) => { server.on('listening', resolve); server.on('error', reject) })
  return {
    issuer, problems,
    stop: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve) }),
  }
}
