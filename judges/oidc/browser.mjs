// A browser as far as forms, redirects and cookies go.
import assert from 'node:assert/strict'

const unescape = (text) => text.replace(/&amp;/g, '&').replace(/&#34;|&quot;/g, '"').replace(/&#39;/g, "'").replace(/&#43;/g, '+')

export class Browser {
  cookies = new Map() // by origin, then by name

  // get opens an address and follows where it leads.
  get = (address) => this.#open('GET', address)

  // post sends a form.
  post = (address, fields) => this.#open('POST', address, new URLSearchParams(fields))

  async #open(method, address, body) {
    for (let hops = 0; hops < 12; hops++) {
      const url = new URL(address)
      const jar = this.cookies.get(url.origin) ?? new Map()
      this.cookies.set(url.origin, jar)
      const headers = { accept: 'text/html', cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') }
      if (method === 'POST') headers.origin = url.origin
      const res = await fetch(url, { method, body, headers, redirect: 'manual', signal: AbortSignal.timeout(20_000) })
      for (const line of res.headers.getSetCookie()) {
        const [name, ...value] = line.split(';')[0].split('=')
        if (/max-age=0|max-age=-|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name)
        else jar.set(name, value.join('='))
      }
      const to = res.headers.get('location')
      if (!to) return { status: res.status, url, text: await res.text() }
      address = new URL(to, url)
      method = 'GET'
      body = undefined
    }
    assert.fail(`too many redirects to ${address}`)
  }

  // signIn goes from our sign-in page through the provider's own pages and back.
  async signIn(console, person, next = '/') {
    const page = await this.get(`${console}/sign-in?next=${encodeURIComponent(next)}`)
    const link = page.text.match(/href="(\/sign-in\/provider[^"]*)"/)
    assert.ok(link, `no button on the sign-in page: ${page.text}`)
    let shown = await this.get(console + unescape(link[1]))
    for (let steps = 0; steps < 4; steps++) {
      const form = shown.text.match(/<form[^>]*action="([^"]*\/interaction\/[^"]*)"/)
      if (!form) return shown
      const prompt = shown.text.match(/name="prompt" value="(\w+)"/)[1]
      const fields = prompt === 'login' ? { prompt, login: person, password: 'x' } : { prompt }
      shown = await this.post(new URL(unescape(form[1]), shown.url), fields)
    }
    return shown
  }
}
