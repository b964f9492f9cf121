/** Templates over HTTP (campaigns, "Templates"). */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  DeletedTemplateData,
  PreviewTemplateData,
  SavedTemplateData,
  TemplatesData,
} from '../../src/front-door/routes/templates/schemas.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ PUBLIC_URL: 'https://mail.example.com/' }))
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { rateLimit: 100_000 })
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]
const issuesOf = ({ body }: Answer) => body.error?.issues ?? []

const WELCOME = {
  name: 'Welcome',
  channel: 'email',
  variants: { en: { subject: 'Hi {{contact.firstName}}', html: '<p>{{contact.lastName}}</p>' } },
  defaultLanguage: 'en',
}
interface Shown {
  templateId: string
  version: number
  variants: Record<string, object>
}
const shown = (answer: Answer) => dataOf(SavedTemplateData, answer)['template'] as Shown
const create = async (template: object = WELCOME) => shown(await ask('POST', '/api/templates', template))
const preview = async (id: string, body: object) =>
  dataOf(PreviewTemplateData, await ask('POST', `/api/templates/${id}/preview`, body))['message'] as Record<
    string,
    string
  >

async function auditOf(target: string): Promise<string[]> {
  const rows = await service.sql<
    { action: string }[]
  >`select action from audit_log where target = ${target} order by id`
  return rows.map(({ action }) => action)
}

describe('a template', () => {
  test('warns of each language of an email without a link to unsubscribe, whenever it is saved', async () => {
    const warningsOf = (answer: Answer) => dataOf(SavedTemplateData, answer)['warnings']
    const created = await ask('POST', '/api/templates', WELCOME)
    const rest = 'in a marketing mail, link to {{unsubscribeUrl}} or {{preferencesUrl}}'
    expect(warningsOf(created)).toEqual([`variants has no link to unsubscribe (en): ${rest}`])
    const path = `/api/templates/${shown(created).templateId}`
    const en = { subject: 'Hi', text: 'Unsubscribe: {{unsubscribeUrl}}' }
    const variants = { en, de: { subject: 'Hallo', html: '<p>Hallo</p>' } }
    expect(warningsOf(await ask('PATCH', path, { variants }))).toEqual([
      `variants has no link to unsubscribe (de): ${rest}`,
    ])
    expect(warningsOf(await ask('PATCH', path, { variants: { en } }))).toBeUndefined()
    const sms = { ...WELCOME, channel: 'sms', variants: { en: { text: 'Hi' } } }
    expect(warningsOf(await ask('POST', '/api/templates', sms))).toBeUndefined()
  })

  test('warns of a value that can change the JSON of a webhook', async () => {
    const webhook = (body: string) => ({ ...WELCOME, channel: 'webhook', variants: { en: { body } } })
    const warningsOf = async (body: string) =>
      dataOf(SavedTemplateData, await ask('POST', '/api/templates', webhook(body)))['warnings']
    expect(await warningsOf('{ "city": "{{contact.city}}" }')).toEqual([
      expect.stringContaining('variants has a value without the filter json (en)') as string,
    ])
    expect(await warningsOf('{ "city": {{contact.city | json}} }')).toBeUndefined()
  })

  test('is created, read, listed, changed and deleted', async () => {
    const created = await create()
    const { templateId } = created
    expect(created).toMatchObject({ ...WELCOME, version: 1 })
    expect(shown(await ask('GET', `/api/templates/${templateId}`))).toEqual(created)
    expect(dataOf(TemplatesData, await ask('GET', '/api/templates'))).toMatchObject({
      templates: [{ templateId, languages: ['en'] }],
      nextCursor: null,
    })
    const variants = { en: { subject: 'New', text: 'Hello' }, 'pt-BR': { subject: 'Novo', text: 'Bom dia' } }
    const changed = shown(await ask('PATCH', `/api/templates/${templateId}`, { variants }))
    expect(changed).toMatchObject({ name: 'Welcome', variants, version: 2 })
    expect(shown(await ask('PATCH', `/api/templates/${templateId}`, { variants, name: 'W' }))).toMatchObject({
      name: 'W',
      version: 2,
    })
    expect(shown(await ask('PATCH', `/api/templates/${templateId}`, { name: 'W' }))).toMatchObject({ version: 2 })
    expect(dataOf(DeletedTemplateData, await ask('DELETE', `/api/templates/${templateId}`))).toEqual({ templateId })
    for (const [method, json] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const)
      expect(code(await ask(method, `/api/templates/${templateId}`, json))).toEqual([404, 'not_found'])
    const changes = ['template.create', 'template.update', 'template.update', 'template.delete']
    expect(await auditOf(templateId)).toEqual(changes)
    const versions = await service.sql<{ version: number; replaced: boolean }[]>`
      select version, replaced_at is not null as replaced from template_versions
      where template_id = ${templateId} order by version`
    expect([...versions]).toEqual([
      { version: 1, replaced: true },
      { version: 2, replaced: true },
    ])
  })

  test('loses its replaced versions with a change 90 days later', async () => {
    const { templateId } = await create()
    const change = (subject: string) =>
      ask('PATCH', `/api/templates/${templateId}`, { variants: { en: { subject, text: '-' } } })
    await change('second')
    await change('third')
    const versions = async () => {
      await create()
      const rows = await service.sql<{ version: number }[]>`
        select version from template_versions where template_id = ${templateId} order by version`
      return rows.map(({ version }) => version)
    }
    const age = (version: number, age: string) => service.sql`
      update template_versions set replaced_at = now() - ${age}::interval
      where template_id = ${templateId} and version = ${version}`
    await age(1, '90 days 1 minute')
    await age(2, '90 days -1 minute')
    expect(await versions()).toEqual([2, 3])
    await age(2, '91 days')
    expect(await versions()).toEqual([3])
  })

  test('keeps its newest 100 versions', async () => {
    const { templateId } = await create()
    const change = (n: number) =>
      ask('PATCH', `/api/templates/${templateId}`, { variants: { en: { subject: `${n}`, text: '-' } } })
    const versions = async () => {
      const rows = await service.sql<{ version: number }[]>`
        select version from template_versions where template_id = ${templateId} order by version`
      return [rows.length, rows[0]?.version]
    }
    for (let n = 2; n <= 100; n += 1) await change(n)
    expect(await versions()).toEqual([100, 1])
    await change(101)
    expect(await versions()).toEqual([100, 2])
  })

  test('is listed by pages, newest first', async () => {
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift((await create({ ...WELCOME, name: `T${n}` })).templateId)
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = dataOf(TemplatesData, await ask('GET', `/api/templates?limit=2${cursor && `&cursor=${cursor}`}`))
      found.push(...(page['templates'] as Shown[]).map(({ templateId }) => templateId))
      cursor = page['nextCursor'] as string | null
    }
    expect(found).toEqual(ids)
    expect(code(await ask('GET', '/api/templates?cursor=x'))).toEqual([400, 'invalid_request'])
  })

  test('is unknown to another business', async () => {
    const { templateId } = await create()
    tenant = await createBusiness(service.sql)
    expect(code(await ask('GET', `/api/templates/${templateId}`))).toEqual([404, 'not_found'])
    expect(dataOf(TemplatesData, await ask('GET', '/api/templates'))).toEqual({ templates: [], nextCursor: null })
  })

  test('is one of 1,000 at most', async () => {
    const { templateId } = await create()
    await service.sql`
      insert into templates (business_id, id, name, channel)
      select ${tenant.businessId}, gen_random_uuid(), 'many', 'email' from generate_series(1, 998)`
    const [first, second] = await Promise.all([
      ask('POST', '/api/templates', WELCOME),
      ask('POST', '/api/templates', WELCOME),
    ])
    expect([first.status, second.status].toSorted((a, b) => a - b)).toEqual([200, 409])
    expect(code(await ask('POST', '/api/templates', WELCOME))).toEqual([409, 'limit_reached'])
    await ask('DELETE', `/api/templates/${templateId}`)
    await create()
  })

  test('keeps the later of two concurrent changes, and no mixture of them', async () => {
    const { templateId } = await create()
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) =>
        ask('PATCH', `/api/templates/${templateId}`, { variants: { en: { subject: `v${n}`, text: '-' } } }),
      ),
    )
    const versions = answers.map((answer) => shown(answer).version)
    expect(versions.toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5])
    const last = answers.find((answer) => shown(answer).version === 5)
    expect(shown(await ask('GET', `/api/templates/${templateId}`)).variants).toEqual(last && shown(last).variants)
  })
})

describe('a template is refused', () => {
  const path = async (template: object) => {
    const answer = await ask('POST', '/api/templates', { ...WELCOME, ...template })
    expect(code(answer)).toEqual([400, 'invalid_request'])
    return issuesOf(answer).map((issue) => issue.path)
  }
  const en = (variant: object, channel = 'email') => path({ channel, variants: { en: variant } })

  test('with paths', async () => {
    expect(await en({ subject: 's', html: '{{ contact.nickname }}' })).toEqual(['variants.en.html'])
    expect(await en({ subject: '{{', mjml: '<mjml><mj-body></mj-body></mjml>' })).toEqual(['variants.en.subject'])
    expect(await en({ html: 'x' })).toEqual(['variants.en.subject'])
    expect(await en({ subject: 's' })).toEqual(['variants.en'])
    expect(await en({ subject: 's', html: 'x', mjml: '<mjml></mjml>' })).toEqual(['variants.en.mjml'])
    expect(await en({ subject: 's', text: 'x', title: 'x' })).toEqual(['variants.en.title'])
    expect(await en({ subject: 's', text: 'x\u0000' })).toEqual(['variants.en.text'])
    expect(await en({ subject: 's', text: 5 })).toEqual(['variants.en.text'])
    expect(await en({ text: 'x', subject: 's' }, 'sms')).toEqual(['variants.en.subject'])
    expect(await path({ channel: 'fax' })).toEqual(['channel'])
    expect(await path({ variants: {} })).toEqual(['variants'])
    expect(await path({ variants: { 'not a language': { subject: 's', text: 't' } } })).toEqual([
      'variants.not a language',
    ])
    expect(await path({ variants: { de: { subject: 's', text: 't' } } })).toEqual(['defaultLanguage'])
    const variant = { subject: 's', text: 't' }
    expect(await path({ variants: { 'pt-BR': variant, pt_br: variant, en: variant } })).toEqual(['variants.pt_br'])
    expect(
      await path({ variants: { [`en-x-${'a'.repeat(8)}`.padEnd(65, '-bcd')]: variant, en: variant } }),
    ).toHaveLength(1)
  })

  test('with a link of another scheme', async () => {
    const link = (href: string) => ({ subject: 's', html: `<p><a href="${href}">x</a></p>` })
    for (const href of ['ftp://files.example/a', 'sms:+1', ' MyApp:open', '&#102;tp://x.example', 'm&#x79;app&colon;a'])
      expect([href, await en(link(href))]).toEqual([href, ['variants.en.html']])
    const mjml =
      '<mjml><mj-body><mj-section><mj-column><mj-button href="sms:+1">x</mj-button></mj-column></mj-section></mj-body></mjml>'
    expect(await en({ subject: 's', mjml })).toEqual(['variants.en.mjml'])
    expect(await en({ title: 't', body: 'b', url: 'sms:+1' }, 'push')).toEqual(['variants.en.url'])
    const allowed = ['http://a.example', 'HTTPS://a.example', 'mailto:a@a.example', 'tel:+1', '/a', '#a']
    for (const href of [...allowed, '{{ unsubscribeUrl }}', 'https://a.example/{{ event.properties.x }}:y'])
      expect([href, code(await ask('POST', '/api/templates', { ...WELCOME, variants: { en: link(href) } }))]).toEqual([
        href,
        [200, undefined],
      ])
  })

  test('one past its limits, and is accepted at them', async () => {
    const tries = async (template: object) => code(await ask('POST', '/api/templates', { ...WELCOME, ...template }))
    const taken = [200, undefined]
    const refused = [400, 'invalid_request']
    // Builds a variant of this size, including `{"subject":"s","text":""}`. An ö takes two bytes.
    const sized = (bytes: number) => ({ subject: 's', text: `ö${'x'.repeat(bytes - 25 - 2)}` })
    expect(await tries({ variants: { en: sized(262_144) } })).toEqual(taken)
    expect(await tries({ variants: { en: sized(262_145) } })).toEqual(refused)
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [n === 0 ? 'en' : `en-abc${100 + n}`, sized(40)]))
    expect(await tries({ variants: many(50) })).toEqual(taken)
    expect(await tries({ variants: many(51) })).toEqual(refused)
    expect(await tries({ name: 'x'.repeat(256) })).toEqual(taken)
    expect(await tries({ name: 'x'.repeat(257) })).toEqual(refused)
    const approved = (count: number) => ({
      channel: 'whatsapp',
      variants: { en: { providerTemplate: 'welcome', parameters: Array.from({ length: count }, () => 'x') } },
    })
    expect(await tries(approved(20))).toEqual(taken)
    expect(await tries(approved(21))).toEqual(refused)
  })

  test('when a change would break it, and stays as it was', async () => {
    const created = await create()
    const change = (json: object) => ask('PATCH', `/api/templates/${created.templateId}`, json)
    expect(code(await change({ variants: { en: { subject: '{{ nobody }}', text: '-' } } }))).toEqual([
      400,
      'invalid_request',
    ])
    expect(code(await change({ defaultLanguage: 'de' }))).toEqual([400, 'invalid_request'])
    expect(code(await change({}))).toEqual([400, 'invalid_request'])
    expect(shown(await ask('GET', `/api/templates/${created.templateId}`))).toEqual(created)
  })
})

describe('a preview', () => {
  test('is what would be sent to the contact', async () => {
    const tracked = await ask('POST', '/api/sdk/identify', {
      identity: { email: 'ada@example.com' },
      profile: { lastName: '<Lovelace>', language: 'pt-BR' },
      traits: { plan: 'pro' },
    })
    const contactId = String(tracked.body.data['contactId'])
    const { templateId } = await create({
      ...WELCOME,
      variants: {
        en: { subject: 'Hi {{contact.firstName}}', html: '<p>{{contact.lastName}}</p>' },
        pt: {
          subject: 'Oi {{contact.firstName}}, {{event.properties.item}}',
          html: '<p>{{contact.lastName}} {{contact.email}} {{contact.customFields.plan}} {{unsubscribeUrl}}</p>',
        },
      },
    })
    const event = { name: 'left', properties: { item: '<hat>' } }
    expect(await preview(templateId, { contactId, event })).toEqual({
      language: 'pt',
      subject: 'Oi para si, <hat>',
      html: '<p>&lt;Lovelace&gt; ada@example.com pro https://mail.example.com/u/preview</p>',
      text: '<Lovelace> ada@example.com pro https://mail.example.com/u/preview',
    })
    await service.sql`update identities set proven = false where contact_id = ${contactId}`
    expect(await preview(templateId, { contactId })).not.toMatchObject({
      text: expect.stringContaining('ada@example.com') as string,
    })
    expect(await preview(templateId, { contactId, language: 'en' })).toMatchObject({
      language: 'en',
      subject: 'Hi there',
    })
    expect(await preview(templateId, {})).toMatchObject({ language: 'en', html: '<p></p>' })
  })

  test('is refused for an unknown contact or template, and for a template that runs away', async () => {
    const text = '{% for i in event.properties.list %}{% for j in (1..10000) %}{{j}}{% endfor %}{% endfor %}'
    const { templateId } = await create({ ...WELCOME, variants: { en: { subject: 's', text } } })
    const at = `/api/templates/${templateId}/preview`
    expect(code(await ask('POST', at, { contactId: crypto.randomUUID() }))).toEqual([404, 'not_found'])
    expect(code(await ask('POST', at, { contactId: 'x' }))).toEqual([404, 'not_found'])
    expect(code(await ask('POST', `/api/templates/${crypto.randomUUID()}/preview`, {}))).toEqual([404, 'not_found'])
    const event = { name: 'e', properties: { list: Array.from({ length: 100 }, (_, n) => n) } }
    const answer = await ask('POST', at, { event })
    expect(code(answer)).toEqual([400, 'invalid_request'])
    expect(answer.body.message).toContain('too many steps')
  })
})
