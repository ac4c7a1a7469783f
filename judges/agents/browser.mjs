// The person who is asked, with a browser: Chromium opens the authorization
// URL, signs in and approves on the console's pages. A listener on this machine
// is the client's redirect URI and catches what the browser brings back.
import http from 'node:http'
import { chromium } from 'playwright-core'

const { CHROMIUM, CONSOLE_URL, OWNER, PASSWORD, AGENT, SCRATCH } = process.env
const args = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
]

function within(ms, what, promise) {
  let timer
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`${what} took longer than ${ms / 1000} s`)), ms) })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

// To be closed in any case. Should this program end before that, Playwright ends the browser.
export async function personWithBrowser() {
  let caught
  const callback = new Promise((done) => { caught = done })
  const listener = http.createServer((req, res) => {
    const url = new URL(req.url, redirect)
    const found = req.method === 'GET' && url.pathname === '/callback'
    res.writeHead(found ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' }).end(found ? 'Back at the client.' : '')
    if (found) caught(url)
  })
  await new Promise((done, fail) => listener.once('error', fail).listen(0, '127.0.0.1', done))
  const redirect = `http://127.0.0.1:${listener.address().port}/callback`

  async function walk(browser, authorizationURL) {
    const page = await browser.newPage()
    page.setDefaultTimeout(60_000)
    const said = []
    page.on('console', (message) => { if (message.type() === 'error') said.push(message.text()) })
    try {
      const at = (path) => page.waitForURL((url) => url.origin === CONSOLE_URL && url.pathname.startsWith(path))
      await page.goto(String(authorizationURL))
      await at('/sign-in')
      await page.fill('input[name="email"]', OWNER)
      await page.fill('input[name="password"]', PASSWORD)
      await page.click('form[action="/sign-in"] button')
      await at('/consent/')
      await page.check(`input[name="agent_id"][value="${AGENT}"]`)
      await page.click('#approve')
      return await within(60_000, 'the way back to the client', callback)
    } catch (err) {
      throw new Error(`the browser is at ${page.url()}${said.map((s) => `\nit said: ${s}`).join('')}`, { cause: err })
    }
  }

  return {
    redirect,
    // Where the browser ends up at the client: its redirect URI with code, state and iss.
    async approve(authorizationURL) {
      const browser = await chromium.launch({ executablePath: CHROMIUM, args, timeout: 30_000, env: { ...process.env, HOME: SCRATCH, TMPDIR: SCRATCH } })
      try {
        return await within(60_000, 'consent in the browser', walk(browser, authorizationURL))
      } finally {
        await within(60_000, 'closing the browser', browser.close())
      }
    },
    close() {
      listener.close()
      listener.closeAllConnections()
    },
  }
}

// The same person on the page of a proposal: signs in, looks and decides.
export async function decideInBrowser(approvalURL, decision, reason) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args, timeout: 30_000, env: { ...process.env, HOME: SCRATCH, TMPDIR: SCRATCH } })
  const walk = async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    page.setDefaultTimeout(60_000)
    await page.goto(approvalURL)
    await page.fill('input[name="email"]', OWNER)
    await page.fill('input[name="password"]', PASSWORD)
    await page.click('form[action="/sign-in"] button')
    await page.waitForURL(approvalURL)
    const why = page.locator('details:has([name="reason"]) > summary') // the reason is asked for on demand
    if (reason && await why.count()) await why.first().click()
    if (reason) await page.fill('[name="reason"]', reason)
    await page.click(`#${decision}`)
    await page.waitForSelector(`#${decision}`, { state: 'detached' }) // decided, there is nothing left to decide
  }
  try {
    await within(60_000, 'the decision in the browser', walk())
  } finally {
    await within(60_000, 'closing the browser', browser.close())
  }
}
