// The person who is asked: signs in and approves on the console's pages as
// they come, without a browser and so without JavaScript.
import assert from 'node:assert/strict'

const { CONSOLE_URL, OWNER, PASSWORD, AGENT } = process.env
const cookies = new Map()

async function visit(url, form) {
  for (let hops = 0; hops < 10; hops++) {
    const headers = { accept: 'text/html', cookie: [...cookies].map(([k, v]) => `${k}=${v}`).join('; ') }
    if (form) headers.origin = new URL(url).origin
    const res = await fetch(url, { method: form ? 'POST' : 'GET', body: form, headers, redirect: 'manual', signal: AbortSignal.timeout(60_000) })
    if (new URL(url).origin === CONSOLE_URL) {
      for (const line of res.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)
        cookies.set(name, value)
      }
    }
    const text = await res.text()
    const location = res.headers.get('location')
    if (!location) {
      assert.equal(res.status, 200, `${url}: ${res.status} ${text}`)
      return { url, text }
    }
    url = new URL(location, url).href
    form = undefined
    // The client's own address is where the way ends: nobody listens there.
    if (new URL(url).pathname === '/callback') return { url }
  }
  throw new Error(`too many redirects, the last to ${url}`)
}

const unescape = (s) => s.replace(/&#(\d+);/g, (_, n) => String.fromCodePoint(n)).replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
const attribute = (tag, name) => {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)
  return found && unescape(found[1])
}

// The page's form with its hidden fields, and what else is on it.
function formOf(page) {
  const [, tag, inside] = /(<form\b[^>]*>)(.*?)<\/form>/s.exec(page.text) ?? assert.fail(`no form on ${page.url}`)
  const inputs = inside.match(/<(input|button)\b[^>]*>/g)
  const fields = new URLSearchParams()
  for (const input of inputs) if (attribute(input, 'type') === 'hidden') fields.set(attribute(input, 'name'), attribute(input, 'value'))
  return { action: new URL(attribute(tag, 'action') ?? '', page.url).href, inputs, fields }
}

// Where the browser ends up at the client: its redirect URI with code, state and iss.
export async function approve(authorizationURL) {
  let page = await visit(authorizationURL)
  if (new URL(page.url).pathname === '/sign-in') {
    const { action, fields } = formOf(page)
    fields.set('email', OWNER)
    fields.set('password', PASSWORD)
    page = await visit(action, fields)
  }
  assert.match(page.url, new RegExp(`^${CONSOLE_URL}/consent/`))
  const { action, inputs, fields } = formOf(page)
  const agent = inputs.find((i) => attribute(i, 'name') === 'agent_id' && attribute(i, 'value') === AGENT)
  const button = inputs.find((i) => attribute(i, 'id') === 'approve')
  assert.ok(agent && button, 'the consent page offers the agent and a button to approve')
  fields.set('agent_id', AGENT)
  fields.set(attribute(button, 'name'), attribute(button, 'value'))
  const back = await visit(action, fields)
  assert.ok(!back.text, `consent ended on ${back.url}: ${back.text}`)
  return new URL(back.url)
}
