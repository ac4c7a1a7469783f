import { WebhookError } from './errors.js'
import type { EventType } from './generated.js'

/** What a webhook is told. `data` is the resource as it was right after the change. */
export interface WebhookEvent<T = unknown> {
  type: EventType | 'webhook.test'
  timestamp: string
  data: T
  /** Former values of what changed; null for creations. */
  previous: Partial<T> | null
  /** The same in every attempt: remember it, and handle each event once. */
  id: string
  organizationId: string
  resourceType: string
  resourceId: string
  actorKind: 'user' | 'agent' | 'api' | 'automation' | 'system'
  actorId: string | null
  door: string
  requestId: string
}

/** The headers of a request: those of `fetch`, or of Node.js. */
export type WebhookHeaders = Headers | Record<string, string | string[] | undefined>

/**
 * Makes sure that a request was sent by Frontdesk within the last five minutes,
 * and returns the event. `body` is the request's body as it arrived, before any
 * parsing. Throws a `WebhookError` otherwise: answer with 400.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: { toleranceSeconds?: number } = {},
): Promise<WebhookEvent> {
  const header = (name: string): string => {
    const value = headers instanceof Headers ? headers.get(name) : headers[name]
    if (typeof value !== 'string' || value === '') throw new WebhookError(`The header ${name} is missing.`)
    return value
  }
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  const age = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!(age <= (options.toleranceSeconds ?? 300))) throw new WebhookError('The request is too old, or from the future.')

  const text = new TextEncoder()
  const raw = typeof body === 'string' ? text.encode(body) : body
  const signed = new Uint8Array([...text.encode(`${id}.${timestamp}.`), ...raw])
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', decode(secret.replace(/^whsec_/, '')), algorithm, false, ['verify'])
  for (const given of header('webhook-signature').split(' ')) {
    const [version, signature] = given.split(',')
    if (version !== 'v1' || !signature) continue
    // verify compares in constant time.
    if (await crypto.subtle.verify('HMAC', key, decode(signature), signed)) {
      return JSON.parse(new TextDecoder().decode(raw)) as WebhookEvent
    }
  }
  throw new WebhookError('No signature fits. Is it the secret of this webhook?')
}

function decode(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
  } catch {
    throw new WebhookError('The secret or a signature is not base64.')
  }
}
