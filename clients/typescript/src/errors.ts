import type { ErrorCode } from './generated.js'

/** What is wrong with a request, as a tree that mirrors it. */
export interface ErrorTree {
  errors: string[]
  properties?: Record<string, ErrorTree>
  items?: (ErrorTree | null)[]
}

/** Everything that this library throws, but for your own cancellation. */
export class FrontdeskError extends Error {
  override name = 'FrontdeskError'
  /** Names the request in the server's logs. */
  requestId: string | undefined
}

/** There is no answer: the connection failed, and what became of the request is not known. */
export class ConnectionError extends FrontdeskError {
  override name = 'ConnectionError'
}

/** There was no answer in time. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError'
}

/** A webhook request that must not be believed. */
export class WebhookError extends FrontdeskError {
  override name = 'WebhookError'
}

/** A refusal. Branch on `code`; the message is for people. */
export class ApiError extends FrontdeskError {
  override name = 'ApiError'
  /** Seconds after which the same request is worth another try. */
  readonly retryAfter: number | undefined

  constructor(
    readonly status: number,
    readonly code: ErrorCode | 'UNKNOWN',
    message: string,
    readonly details: unknown,
    readonly headers: Headers,
  ) {
    super(message)
    this.requestId = headers.get('x-request-id') ?? undefined
    this.retryAfter = retryAfter(headers.get('retry-after'))
  }

  /** What is wrong with which field: `{ 'emails[1].email': ['Invalid email address'] }`. */
  get fields(): Record<string, string[]> {
    const out: Record<string, string[]> = {}
    const walk = (node: ErrorTree, at: string): void => {
      if (node.errors?.length) out[at] = node.errors
      for (const [name, below] of Object.entries(node.properties ?? {})) walk(below, at ? `${at}.${name}` : name)
      node.items?.forEach((below, i) => below && walk(below, `${at}[${i}]`))
    }
    if (isTree(this.details)) walk(this.details, '')
    return out
  }
}

/** 400: the request is not valid; `fields` says where. */
export class ValidationError extends ApiError { override name = 'ValidationError' }
/** 401: there is no such key. */
export class AuthenticationError extends ApiError { override name = 'AuthenticationError' }
/** 402: the payment failed, or there is no card. */
export class PaymentError extends ApiError { override name = 'PaymentError' }
/** 403: the key may not do this. */
export class PermissionError extends ApiError { override name = 'PermissionError' }
/** 404: it does not exist, or is not yours. */
export class NotFoundError extends ApiError { override name = 'NotFoundError' }
/** 409, 412, 422: not as things are now. */
export class ConflictError extends ApiError { override name = 'ConflictError' }
/** 429: too many requests; `retryAfter` says how long to wait. */
export class RateLimitError extends ApiError { override name = 'RateLimitError' }
/** 5xx: the server's fault. */
export class ServerError extends ApiError { override name = 'ServerError' }

const byStatus: Record<number, typeof ApiError> = {
  400: ValidationError,
  401: AuthenticationError,
  402: PaymentError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  412: ConflictError,
  422: ConflictError,
  429: RateLimitError,
}

/** The error that a refusal stands for. A body that is not ours comes from something between. */
export function errorOf(status: number, headers: Headers, text: string): ApiError {
  let error: { code?: ErrorCode; message?: string; details?: unknown } = {}
  try {
    error = JSON.parse(text).error ?? {}
  } catch {
    // not JSON
  }
  const type = byStatus[status] ?? (status >= 500 ? ServerError : ApiError)
  const redirect = status === 0 || (status >= 300 && status < 400)
  const message = error.message ?? (redirect ? 'The server redirects. Is the base URL right?' : `The server answered ${status}.`)
  return new type(status, error.code ?? 'UNKNOWN', message, error.details, headers)
}

function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined
  const seconds = Number(header)
  if (!Number.isNaN(seconds)) return seconds
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1000)
}

function isTree(v: unknown): v is ErrorTree {
  return typeof v === 'object' && v !== null && Array.isArray((v as ErrorTree).errors)
}
