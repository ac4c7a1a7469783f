/**
 * A file to send: a `Blob` or `File` (in Node.js `await fs.openAsBlob(path)` reads it as it is sent),
 * or bytes or a stream with a name.
 */
export type Upload = Blob | { name: string; data: Blob | Uint8Array<ArrayBuffer> | string | AsyncIterable<Uint8Array> }

/** A file that is received. Read `stream`, or take all of it with `bytes()` or `text()`. */
export interface Download {
  stream: ReadableStream<Uint8Array>
  name: string | undefined
  contentType: string
  size: number | undefined
  bytes(): Promise<Uint8Array>
  text(): Promise<string>
}

export interface FormBody {
  body: FormData | ReadableStream<Uint8Array>
  type?: string
  /** It can be sent a second time. */
  again: boolean
}

/** The fields as multipart/form-data. A stream is passed on as it comes. */
export function formOf(fields: Record<string, unknown>): FormBody {
  const form = new FormData()
  let streamed: { field: string; name: string; data: AsyncIterable<Uint8Array> } | undefined
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue
    if (value instanceof Blob) {
      form.append(field, value, 'name' in value ? String(value.name) : 'file')
    } else if (isNamed(value)) {
      const { name, data } = value
      if (data instanceof Blob) form.append(field, data, name)
      else if (typeof data === 'string' || data instanceof Uint8Array) form.append(field, new Blob([data]), name)
      else streamed = { field, name, data }
    } else {
      form.append(field, value instanceof Date ? value.toISOString() : String(value))
    }
  }
  if (!streamed) return { body: form, again: true }
  const boundary = `frontdesk-${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}`
  return {
    body: readable(parts(form, streamed, boundary)),
    type: `multipart/form-data; boundary=${boundary}`,
    again: false,
  }
}

async function* parts(
  form: FormData,
  file: { field: string; name: string; data: AsyncIterable<Uint8Array> },
  boundary: string,
): AsyncGenerator<Uint8Array> {
  const text = new TextEncoder()
  const quoted = (s: string) => s.replace(/"/g, '%22').replace(/\r/g, '%0D').replace(/\n/g, '%0A')
  const head = (field: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(field)}"`
  for (const [field, value] of form) yield text.encode(`${head(field)}\r\n\r\n${String(value)}\r\n`)
  yield text.encode(`${head(file.field)}; filename="${quoted(file.name)}"\r\n`)
  yield text.encode('Content-Type: application/octet-stream\r\n\r\n')
  yield* file.data
  yield text.encode(`\r\n--${boundary}--\r\n`)
}

function readable(from: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const next = await from.next()
      if (next.done) controller.close()
      else controller.enqueue(next.value)
    },
    async cancel() {
      await from.return(undefined)
    },
  })
}

export function downloadOf(response: Response): Download {
  const disposition = response.headers.get('content-disposition') ?? ''
  const extended = /filename\*=utf-8''([^;]+)/i.exec(disposition)?.[1]
  const plain = /filename="?([^";]+)"?/i.exec(disposition)?.[1]
  const size = response.headers.get('content-length')
  return {
    stream: response.body ?? new ReadableStream({ start: (c) => c.close() }),
    name: extended ? decodeURIComponent(extended) : plain,
    contentType: response.headers.get('content-type') ?? 'application/octet-stream',
    size: size === null ? undefined : Number(size),
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    text: () => response.text(),
  }
}

function isNamed(v: unknown): v is Exclude<Upload, Blob> {
  return typeof v === 'object' && v !== null && 'name' in v && 'data' in v
}
