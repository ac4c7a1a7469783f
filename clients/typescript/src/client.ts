import { ApiError, ConnectionError, errorOf, FrontdeskError, TimeoutError } from './errors.js'
import { Pages, type Page, type Query } from './pages.js'
import { downloadOf, formOf, type Download } from './streams.js'

export const VERSION = '0.1.0'

export interface ClientOptions {
  /** Like `https://frontdesk.example`. By default the variable `FRONTDESK_URL`. */
  baseUrl?: string
  /** Like `fd_…`. By default the variable `FRONTDESK_API_KEY`. */
  apiKey?: string
  /** How often a call that failed for a while is tried again. Default 4: about 8 seconds, which outlast a restart of the server. */
  maxRetries?: number
  /** Milliseconds before the first further try; doubled for each one after it. Default 500. */
  retryDelay?: number
  /** Milliseconds for one try; of a file, until it begins to arrive. Default 60,000; uploads have none unless it is set. */
  timeout?: number
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch
}

/** What can be said about a single call. */
export interface CallOptions {
  /** Ends the call: `AbortSignal.timeout(5000)`, or of an `AbortController`. */
  signal?: AbortSignal
  timeout?: number
  maxRetries?: number
  /** Of your own, so that the same call happens once even when your program starts anew. */
  idempotencyKey?: string
  /** Change it only if its `ETag` is still this one. */
  ifMatch?: string
  headers?: Record<string, string>
  /** Is told about the answer: its `etag`, for example. */
  onResponse?: (response: ResponseInfo) => void
}

export interface ResponseInfo {
  status: number
  headers: Headers
  requestId: string
}

/** A call as the generated methods make it. */
export interface Call {
  method: string
  path: string
  query?: object | undefined
  body?: object | undefined
  form?: object | undefined
}

interface Envelope {
  data: unknown
  meta?: { pagination: object }
}

const defaultTimeout = 60_000 // milliseconds
const longestWait = 60 // seconds that a Retry-After may ask for

/** The base of `Frontdesk`: how calls are made, whatever they are about. */
export class Client {
  readonly baseUrl: string
  readonly maxRetries: number
  readonly retryDelay: number
  readonly timeout: number | undefined
  private readonly fetch: typeof fetch
  private readonly headers: Record<string, string>

  constructor(options: ClientOptions = {}) {
    const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}
    const baseUrl = options.baseUrl ?? env.FRONTDESK_URL
    const apiKey = options.apiKey ?? env.FRONTDESK_API_KEY
    if (!baseUrl) throw new FrontdeskError('Give baseUrl, or set FRONTDESK_URL.')
    if (!apiKey) throw new FrontdeskError('Give apiKey, or set FRONTDESK_API_KEY.')
    this.baseUrl = baseUrl.replace(/\/+$/, '')
    this.maxRetries = options.maxRetries ?? 4
    this.retryDelay = options.retryDelay ?? 500
    this.timeout = options.timeout
    this.fetch = options.fetch ?? ((...args) => globalThis.fetch(...args))
    this.headers = { authorization: `Bearer ${apiKey}` }
  }

  /** Makes any call, also one that this version does not know, and returns `data` of the answer. */
  async call<T>(call: Call, options: CallOptions = {}): Promise<T> {
    return (await this.send(call, options, readEnvelope))?.data as T
  }

  /** @internal */
  list<T>(path: string, query: object | undefined, cursor: boolean, options?: CallOptions): Pages<T> {
    const fetchPage = async (query: Query): Promise<Page<T>> => {
      const answer = await this.send({ method: 'GET', path, query }, options ?? {}, readEnvelope)
      return { data: answer?.data as T[], ...(answer?.meta?.pagination as Omit<Page<T>, 'data'>) }
    }
    return new Pages(fetchPage, { ...query }, cursor)
  }

  /** @internal */
  download(call: Call, options: CallOptions = {}): Promise<Download> {
    return this.send(call, options, async (response) => downloadOf(response))
  }

  /** Sends a call until it has an answer, or further tries make no sense. */
  private async send<T>(call: Call, options: CallOptions, read: (r: Response) => Promise<T>): Promise<T> {
    const headers: Record<string, string> = { ...this.headers, ...options.headers }
    if (options.ifMatch) headers['if-match'] = options.ifMatch
    if (call.method === 'POST' && !call.form) headers['idempotency-key'] = options.idempotencyKey ?? newKey()
    const form = call.form && formOf(call.form as Record<string, unknown>)
    let body: RequestInit['body'] = null
    if (form) {
      body = form.body
      if (form.type) headers['content-type'] = form.type
    } else if (call.body !== undefined) {
      body = JSON.stringify(call.body)
      headers['content-type'] = 'application/json'
    }
    const url = this.baseUrl + call.path + queryOf(call.query)
    const request: RequestInit = { method: call.method, headers, body, redirect: 'manual' } // a POST would become a GET
    if (body instanceof ReadableStream) Object.assign(request, { duplex: 'half' })

    const timeout = options.timeout ?? this.timeout ?? (form ? undefined : defaultTimeout)
    let unknown = false // whether an earlier try may have done its work
    for (let attempt = 0; ; attempt++) {
      let failure: ApiError | ConnectionError
      try {
        return await this.attempt(url, request, options, read, timeout)
      } catch (error) {
        if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error
        if (unknown && call.method === 'DELETE' && error instanceof ApiError && error.status === 404) {
          return undefined as T // the try before has deleted it
        }
        failure = error
      }
      const refused = wasRefused(failure)
      const again = refused ? (form?.again ?? true) : isUnknown(failure) && !form && !options.ifMatch
      const wait = (failure instanceof ApiError && failure.retryAfter) || backoff(this.retryDelay, attempt)
      if (!again || wait > longestWait || attempt >= (options.maxRetries ?? this.maxRetries)) throw failure
      unknown ||= !refused
      await sleep(wait * 1000, options.signal)
    }
  }

  /** One try, its answer read to the end. */
  private async attempt<T>(
    url: string,
    request: RequestInit,
    options: CallOptions,
    read: (r: Response) => Promise<T>,
    timeout: number | undefined,
  ): Promise<T> {
    options.signal?.throwIfAborted()
    const limit = timeLimit(timeout, options.signal)
    const signal = limit?.signal ?? options.signal
    let requestId: string | undefined
    try {
      const response = await this.fetch(url, signal ? { ...request, signal } : request)
      requestId = response.headers.get('x-request-id') ?? undefined
      options.onResponse?.({ status: response.status, headers: response.headers, requestId: requestId ?? '' })
      if (!response.ok) throw errorOf(response.status, response.headers, await response.text())
      return await read(response)
    } catch (error) {
      if (error instanceof FrontdeskError) throw error
      if (options.signal?.aborted) throw options.signal.reason
      const failure = limit?.signal.aborted
        ? new TimeoutError('There was no answer in time.', { cause: error })
        : new ConnectionError(`The connection failed: ${reason(error)}`, { cause: error })
      failure.requestId = requestId
      throw failure
    } finally {
      limit?.end()
    }
  }
}

/** The base of every group of operations. */
export class Resource {
  constructor(protected readonly client: Client) {}
}

/** A path whose values are escaped. */
export function path(parts: TemplateStringsArray, ...values: string[]): string {
  return parts.reduce((out, part, i) => {
    const value = values[i - 1]
    if (!value || value === '.' || value === '..') throw new FrontdeskError('An id in the path is none.')
    return out + encodeURIComponent(value) + part
  })
}

/** Repeats a get that can wait, until the status is one that stays. */
export async function settled<T extends { status: string }>(
  get: (waitSeconds: number) => Promise<T>,
  options: { timeout?: number } = {},
): Promise<T> {
  const end = Date.now() + (options.timeout ?? Infinity)
  for (;;) {
    const seconds = Math.max(0, Math.min(45, Math.ceil((end - Date.now()) / 1000)))
    const row = await get(seconds)
    if (!['pending', 'approved', 'executing'].includes(row.status)) return row
    if (Date.now() >= end) throw new TimeoutError(`It is still ${row.status}.`)
  }
}

/** A signal that also ends after a time. */
function timeLimit(ms: number | undefined, outer?: AbortSignal): { signal: AbortSignal; end(): void } | undefined {
  if (!ms) return undefined
  const controller = new AbortController()
  const cancel = () => controller.abort(outer?.reason)
  outer?.addEventListener('abort', cancel)
  const timer = setTimeout(() => controller.abort(), ms)
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', cancel)
    },
  }
}

async function readEnvelope(response: Response): Promise<Envelope | undefined> {
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

/** Whether nothing happened, and the same may work later. */
function wasRefused(e: ApiError | ConnectionError): boolean {
  if (!(e instanceof ApiError)) return false
  return e.status === 429 || e.code === 'SERVICE_UNAVAILABLE' || e.code === 'IDEMPOTENCY_KEY_IN_FLIGHT'
}

/** Whether it is not known what happened. */
function isUnknown(e: ApiError | ConnectionError): boolean {
  return !(e instanceof ApiError) || e.status >= 500 || e.status === 408
}

/** Seconds to wait, between half of the delay and all of it. */
function backoff(delay: number, attempt: number): number {
  return (Math.min(8_000, delay * 2 ** attempt) / 1000) * (0.5 + Math.random() / 2)
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = () => { clearTimeout(timer); reject(signal?.reason) }
    const timer = setTimeout(() => { signal?.removeEventListener('abort', cancel); resolve() }, ms)
    signal?.addEventListener('abort', cancel, { once: true })
  })
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('')
}

function queryOf(query: object | undefined): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    const text = value instanceof Date ? value.toISOString() : String(value) // an array with commas
    return [`${encodeURIComponent(name)}=${encodeURIComponent(text)}`]
  })
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}
