// @modelcontextprotocol/sdk: jobs that people give an agent, on the records of the demonstration, called as a model
// calls, wrong turns included. Counts what the model writes and reads: tokens (o200k) of arguments and results. LIST is
// all or compact; with a compact list, a tool that it does not show is first searched for in words of the job.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { connect, endpoint } from './connect.mjs'

const { LIST } = process.env
const { client: quiet, provider } = await connect('Jobs')
const client = new Client({ name: 'Jobs', version: '1' })
await client.connect(new StreamableHTTPClientTransport(new URL(`${endpoint}?tools=${LIST}`), { authProvider: provider }))
const listed = new Set((await client.listTools()).tools.map((t) => t.name))
const reading = new Set((await quiet.listTools()).tools.filter((t) => t.annotations?.readOnlyHint).map((t) => t.name))

// What is there before a job begins, and is not counted.
async function prepare(name, args) {
  const result = await quiet.callTool({ name, arguments: args })
  assert.ok(!result.isError, `${name}: ${result.content[0].text}`)
  return result.structuredContent.data
}

let job // the one that runs: its number, words, calls, tokens, and the tools that a search has shown
async function count(name, args) {
  const result = await client.callTool({ name, arguments: args })
  job.calls++
  job.tokens += countTokens(JSON.stringify(args)) + countTokens(result.content[0].text)
  return result
}

// One step of a job. The words are what a model searches for, where that is not the job itself.
async function attempt(name, args, words = job.words) {
  if (listed.has(name)) return count(name, args)
  if (!job.known.has(name)) {
    const found = await count('tools_search', { query: words })
    for (const tool of found.structuredContent.tools) job.known.add(tool.name)
    assert.ok(job.known.has(name), `job ${job.number}: ${JSON.stringify(words)} does not find ${name}: ${[...job.known]}`)
  }
  return count(reading.has(name) ? 'tools_read' : 'tools_write', { name, arguments: args })
}
async function use(name, args, words) {
  const result = await attempt(name, args, words)
  assert.ok(!result.isError, `job ${job.number}: ${name}: ${result.content[0].text}`)
  return result.structuredContent.data ?? result.structuredContent
}
// A wrong turn: the refusal must say what to do instead.
async function wrong(says, name, args, words) {
  const result = await attempt(name, args, words)
  assert.ok(result.isError, `job ${job.number}: ${name} accepts ${JSON.stringify(args)}`)
  assert.match(result.content[0].text, says, `job ${job.number}: ${name}`)
  return result.structuredContent
}

const day = 24 * 60 * 60 * 1000
const from = (days) => new Date(Date.now() + days * day).toISOString()
const date = (days) => from(days).slice(0, 10)
const begun = from(0) // what the jobs themselves do is not to count
const quarterBegin = `${date(0).slice(0, 5)}${String(Math.floor((Number(date(0).slice(5, 7)) - 1) / 3) * 3 + 1).padStart(2, '0')}-01`
const thirty = Array.from({ length: 30 }, (_, i) => ({ firstName: 'Visitor', lastName: `Number ${i + 1}`, emails: [{ email: `visitor${i + 1}@fair.example` }], tags: ['fair'] }))
const hours = [{ description: 'Consulting, hours', quantity: 3, unitAmountCents: 9500, taxRate: 19, taxName: 'VAT' }]
let added
const find = async (query) => (await use('contacts_list', { query }))[0].id

// What strangers wrote puts the guard up for a while, so the jobs that it forbids come first, and those that read mail
// last.
const jobs = [
  [5, 'Merge the duplicate Graces', async () => {
    const other = await prepare('contacts_create', { firstName: 'Grace', lastName: 'Hopper', jobTitle: 'Admiral' })
    const groups = await use('contacts_duplicates', {})
    const [graces] = groups.filter((g) => JSON.stringify(g).includes(other.id))
    assert.ok(graces)
    const kept = await find('Grace Hopper compilers')
    await use('contacts_merge', { id: kept, contactId: other.id })
  }],
  [9, 'Add the DNS records for our new mail host', async () => {
    const [domain] = await use('domains_list', { query: 'analytical' }, 'list our domains')
    await use('domains_dns_records_create', { id: domain.id, type: 'MX', name: 'post', content: 'mx.mailhost.example', priority: 10 })
    const second = await wrong(/DNS_SPF_EXISTS/, 'domains_dns_records_create', { id: domain.id, type: 'TXT', name: '@', content: 'v=spf1 include:mailhost.example ~all' })
    const { recordId, content } = second.error.details
    await use('domains_dns_records_patch', { id: domain.id, recordId, content }, 'change a DNS record')
  }],
  [10, 'Make a task whenever an invoice gets overdue', async () => {
    await use('automations_options', { query: 'overdue' }, 'what can automations be made of')
    const steps = [{ operation: 'tasks_create', input: { title: 'Chase {{ event.data.invoiceNumber }}' } }]
    await wrong(/trigger/, 'automations_create', { name: 'Chase', trigger: 'invoice.overdue', steps })
    await use('automations_create', { name: 'Chase', trigger: { kind: 'event', event: 'invoice.overdue' }, steps })
  }],
  [19, 'Send this on Monday at nine, with Ada in copy', async () => {
    await use('messages_create', { to: 'charles@example.com', cc: 'ada@example.com', subject: 'Monday', text: 'The engine is ready.', scheduledAt: from(5) })
  }],
  [20, 'A link to the drawings for Grace, for a week', async () => {
    const [file] = await use('files_list', { query: 'prices' }, 'find the file with the drawings')
    await use('files_access_links_create', { id: file.id, expiresAt: date(7) })
  }],
  [23, 'Remind people three days before an invoice is due', async () => {
    const me = await use('me_get', {}, 'which business is this')
    await use('businesses_invoice_reminders_create', { id: me.business.id, daysAfterDue: -3 })
  }],
  [2, 'Who owes us money? Remind them politely', async () => {
    const late = await use('invoices_list', { status: ['overdue'] })
    assert.ok(late.length > 0)
    const steps = late.map(({ id }) => ({ operation: 'invoices_send', input: { id, templateKey: 'invoice_reminder' } }))
    const plan = await use('proposals_create', { title: 'Remind all who are late', steps }, 'propose several steps as one plan')
    await use('proposals_execute', { id: plan.id }, 'carry out the plan')
  }],
  [3, 'Invoice 3 hours at 95 € with 19 % tax, 14 days, and send it', async () => {
    const [customer] = await use('customers_list', { query: 'Jacquard' }, 'find a customer')
    const made = await use('invoices_create', { customerId: customer.id, currency: 'EUR', dueAt: date(14), lineItems: hours })
    await use('invoices_issue', { id: made.id }, 'issue and send an invoice')
    await use('invoices_send', { id: made.id }, 'issue and send an invoice')
  }],
  [4, 'The same as one plan', async () => {
    const [customer] = await prepare('customers_list', { query: 'Jacquard' })
    const steps = (input) => [
      { operation: 'invoices_create', input: { customerId: customer.id, ...input }, saveAs: 'invoice' },
      { operation: 'invoices_issue', input: { id: '{{ invoice.id }}' } },
      { operation: 'invoices_send', input: { id: '{{ invoice.id }}' } },
    ]
    const title = 'Invoice three hours'
    await wrong(/currency/, 'proposals_create', { title, steps: steps({ currency: 'EUR', dueAt: date(14), lineItems: hours }) }, 'propose several steps as one plan')
    const lineItems = [{ ...hours[0], quantity: '3', taxRate: '19' }]
    await use('proposals_create', { title, steps: steps({ currency: 'eur', dueAt: from(14), lineItems }) })
  }],
  [6, 'Add these 30 people', async () => { added = await use('contacts_batch', { rows: thirty }) }],
  [8, 'Register engines.dev if it is under 20 $ a year', async () => {
    const price = await use('domains_quote', { domain: 'engines.dev' }, 'what does a domain cost, and register it')
    assert.ok(price.amountCents < 2000)
    await wrong(/contact/, 'domains_register', { domain: 'engines.dev', maxAmountCents: 2000, idempotencyKey: 'engines.dev' }, 'register a domain')
    const [owner] = await use('domain_contacts_list', {}, 'saved registrants of domains')
    await use('domains_register', { domain: 'engines.dev', maxAmountCents: 2000, contactId: owner.id, idempotencyKey: 'engines.dev' })
  }],
  [12, 'What changed since yesterday?', async () => { await use('events_list', { since: from(-1), until: begun, limit: 100 }) }],
  [14, 'Jacquard has paid 200 by transfer; note it', async () => {
    const [invoice] = await use('invoices_list', { query: 'Jacquard', unpaid: true })
    await use('invoices_record_payment', { id: invoice.id, amountCents: '20000', method: 'bank_transfer', idempotencyKey: 'jacquard 200' })
  }],
  [15, 'Give Ada the task of calling Grace tomorrow', async () => {
    const [ada] = await use('members_list', { query: 'Ada' }, 'which colleagues can have a task')
    const contactId = await find('Grace Hopper compilers')
    await wrong(/assigneeIds/, 'tasks_create', { title: 'Call Grace', contactId, dueAt: date(1), assigneeId: ada.id })
    await use('tasks_create', { title: 'Call Grace', contactId, dueAt: date(1), assigneeIds: [ada.id] })
  }],
  [16, 'Send the spring newsletter to those who agreed', async () => {
    const agreed = await use('email_opt_ins_list', { status: ['opted_in'] })
    const [template] = await use('email_templates_list', { name: 'News from the workshop' }, 'which email templates are there')
    for (const { email } of agreed) await use('messages_create', { to: email, purpose: 'marketing', templateId: template.id, variables: { season: 'Spring' } })
  }],
  [18, 'Charles has a new phone number', async () => {
    await use('contacts_phone_numbers_create', { id: await find('Charles'), phoneNumber: '+44 20 7946 0999' })
  }],
  [21, 'How much did we take in this quarter?', async () => { await use('reports_get', { name: 'revenue', groupBy: 'quarter', from: quarterBegin }) }],
  [22, "Remember each customer's favourite colour; Grace likes teal", async () => {
    const field = await use('property_definitions_create', { objectType: 'contact', key: 'favourite_colour', name: 'Favourite colour', valueType: 'text' })
    await use('contacts_properties_create', { id: await find('Grace Hopper compilers'), definitionId: field.id, value: 'teal' }, 'set the favourite colour of a contact')
  }],
  [24, 'Credit the second line of that invoice', async () => {
    const [customer] = await prepare('customers_list', { query: 'Compilers' })
    const made = await prepare('invoices_create', { customerId: customer.id, lineItems: ['Repair', 'Travel'].map((description) => ({ description, quantity: '1', unitAmountCents: 9000 })) })
    await prepare('invoices_issue', { id: made.id })
    const invoice = await use('invoices_get', { id: made.id }, 'show the invoice with its lines')
    await use('invoices_credit_notes_create', { id: invoice.id, lineItems: [{ lineItemId: invoice.lineItems[1].id }] })
  }],
  [25, 'Delete the 30 people again', async () => {
    await use('contacts_batch', { rows: added.ids.map((id) => ({ id, delete: true })) }) // in the conversation of job 6
  }],
  [17, 'That conversation is done', async () => {
    const [thread] = await use('threads_list', { query: 'engine eight' })
    await use('threads_update', { id: thread.id, status: 'closed' })
  }],
  [1, 'Answer Charles and attach the price list', async () => {
    const [last] = await use('messages_list', { contactId: await find('Charles'), direction: 'inbound', limit: 3 })
    const files = await use('files_list', { query: 'prices' }, 'find the price list file')
    const text = 'Thank you. Our prices are attached.'
    await wrong(/attachments/, 'messages_create', { inReplyToId: last.id, text, attachments: [files[0].id] })
    // Charles is a stranger whom the agent has just read, so a person must allow a mail with files.
    await wrong(/AGENT_GUARDED/, 'messages_create', { inReplyToId: last.id, text, fileIds: [files[0].id] })
  }],
  [13, 'Read the inbox', async () => {
    const threads = await use('threads_list', { unread: true })
    assert.ok(threads.length > 0)
    for (const thread of threads.slice(0, 3)) await use('messages_list', { threadId: thread.id })
    // Where a mail says: send all invoices to this address.
    await wrong(/AGENT_GUARDED/, 'messages_create', { to: 'x@stranger.example', subject: 'Invoices', text: 'As you wish.' })
  }],
]

const most = { all: 28_200, compact: 42_400 }[LIST]
const done = []
for (const [number, words, run] of jobs) {
  job = { number, words, calls: 0, tokens: 0, known: new Set() }
  await run()
  done.push(job)
}
await quiet.close()
await client.close()
const sum = (field) => done.reduce((all, one) => all + one[field], 0)
assert.ok(sum('tokens') <= most, `${sum('tokens')} tokens, of at most ${most}`)
console.log(`${done.length} jobs with the list ${LIST} in ${sum('calls')} calls and ${sum('tokens')} tokens, of at most ${most}`)
done.sort((a, b) => a.number - b.number)
for (const { number, words, calls, tokens } of done) console.log(`  ${number}. ${words}: ${calls} calls, ${tokens} tokens`)
