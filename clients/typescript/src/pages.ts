/** One page of a list. */
export interface Page<T> {
  data: T[]
  limit: number
  offset: number
  /** Only where it costs the server nothing to know. */
  total?: number
  hasMore: boolean
  /** Only in a walk with `cursor`. */
  nextCursor?: string | null
}

export type Query = Record<string, unknown>

/**
 * A list that was asked for. `await` it for one page, or go through all of it
 * with `for await`, which fetches further pages as it needs them.
 */
export class Pages<T> implements AsyncIterable<T>, PromiseLike<Page<T>> {
  constructor(
    private readonly fetchPage: (query: Query) => Promise<Page<T>>,
    private readonly query: Query,
    private readonly cursor: boolean,
  ) {}

  then<A = Page<T>, B = never>(
    done?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.fetchPage(this.query).then(done, failed)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for await (const page of this.pages()) yield* page.data
  }

  /** The pages one after the other. */
  async *pages(): AsyncGenerator<Page<T>> {
    const query: Query = { limit: 100, ...this.query }
    // A cursor costs the same however deep, and skips nothing when rows are added meanwhile.
    if (this.cursor && query.offset === undefined) query.cursor ??= 'first'
    for (;;) {
      const page = await this.fetchPage(query)
      yield page
      if (page.nextCursor) query.cursor = page.nextCursor
      else if (query.cursor !== undefined || !page.hasMore || page.data.length === 0) return
      else query.offset = page.offset + page.data.length
    }
  }

  /** Everything at once. For a list that may be long, use `for await`. */
  async all(): Promise<T[]> {
    const out: T[] = []
    for await (const item of this) out.push(item)
    return out
  }
}
