/** Templates are rendered on a thread: the results, and how templates that run away are stopped. */
import { afterAll, describe, expect, it } from 'vitest'
import { checkVariants } from '../../../src/messages/templates/check-variants.ts'
import { UNKNOWN_CONTACT } from '../../../src/messages/templates/contact-values.ts'
import { renderMessage } from '../../../src/messages/templates/render-message.ts'
import { createRenderService } from '../../../src/messages/templates/renderer.ts'
import type { MessageChannel, TemplateVersion, Variant, Variants } from '../../../src/messages/templates/template.ts'
import type { MessageContact, MessageValues } from '../../../src/messages/templates/values.ts'
import { atLoad } from '../../support/at-load.ts'

const service = createRenderService()
const renderer = service.of('business')
afterAll(() => service.close())

const NOW = Date.UTC(2026, 2, 1, 9, 30)
let last = 0

async function makeVersion(variants: Variants, channel: MessageChannel = 'email'): Promise<TemplateVersion> {
  const checked = await checkVariants(renderer, variants)
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
  last += 1
  return { templateId: `t${last}`, version: 1, channel, defaultLanguage: 'en', variants, ...checked }
}

function valuesOf(contact: Partial<MessageContact> = {}, event: MessageValues['event'] = null): MessageValues {
  return {
    contact: { ...UNKNOWN_CONTACT, ...contact },
    event,
    unsubscribeUrl: 'https://example.com/u/t',
    preferencesUrl: 'https://example.com/u/t#preferences',
    business: { name: 'Acme & Sons' },
  }
}

async function render(
  variants: Variants,
  contact: Partial<MessageContact> = {},
  event: MessageValues['event'] = null,
  channel: MessageChannel = 'email',
) {
  const values = valuesOf(contact, event)
  return renderMessage(renderer, await makeVersion(variants, channel), {
    values,
    language: values.contact.language,
    now: NOW,
  })
}

async function renderEmail(variant: Variant, ...rest: [Partial<MessageContact>?, MessageValues['event']?]) {
  const rendering = await render({ en: variant }, ...rest)
  if (rendering.kind === 'failed') throw new Error(rendering.reason)
  return rendering.message
}

const HOSTILE = `<script>alert("it's")</script>`

describe('a message', () => {
  it('has values escaped in HTML, and as they are in subjects and texts', async () => {
    const variant = {
      subject: '{{contact.lastName}}',
      html: '<p>{{contact.lastName}}</p>',
      text: '{{contact.lastName}}',
    }
    expect(await renderEmail(variant, { lastName: HOSTILE })).toEqual({
      language: 'en',
      subject: HOSTILE,
      html: '<p>&lt;script&gt;alert(&#34;it&#39;s&#34;)&lt;/script&gt;</p>',
      text: HOSTILE,
    })
  })

  it('greets a person without a first name by the word of the variant that is sent', async () => {
    const variants = {
      en: { subject: 'Hello {{contact.firstName}}', text: '-' },
      pt: { subject: 'Bom dia {{contact.firstName}}', text: '-' },
    }
    const subject = async (contact: Partial<MessageContact>) => {
      const rendering = await render(variants, contact)
      return rendering.kind === 'rendered' ? rendering.message.subject : rendering.reason
    }
    expect(await subject({})).toBe('Hello there')
    expect(await subject({ firstName: '  ' })).toBe('Hello there')
    expect(await subject({ firstName: 'Ada' })).toBe('Hello Ada')
    expect(await subject({ language: 'pt-BR' })).toBe('Bom dia para si')
    expect(await subject({ language: 'fr' })).toBe('Hello there')
  })

  it('shows nothing for any other missing value', async () => {
    const text = '[{{contact.lastName}}{{contact.customFields.plan}}{{event.name}}{{event.properties.a.b}}]'
    expect((await renderEmail({ subject: 's', text })).text).toBe('[]')
  })

  it('reads custom fields, revenue, the event, the business and the links', async () => {
    const text =
      '{{contact.customFields.plan}} {{contact.revenue}} {{event.name}} {% for i in event.properties.items %}{{i.sku}};{% endfor %} ' +
      '{{business.name}} {{unsubscribeUrl}} {{preferencesUrl}}'
    const contact = { customFields: { plan: 'pro' }, revenue: 49.9 }
    const event = { name: 'bought', properties: { items: [{ sku: 'a' }, { sku: 'b' }] } }
    expect((await renderEmail({ subject: 's', text }, contact, event)).text).toBe(
      'pro 49.9 bought a;b; Acme & Sons https://example.com/u/t https://example.com/u/t#preferences',
    )
  })

  it('has a text part made from the HTML when none is given', async () => {
    const html =
      '<style>p{}</style><h1>Hi {{contact.firstName}}</h1><p>Buy <a href="https://a.b/c">here</a></p><img src="x">'
    const { text } = await renderEmail({ subject: 's', html }, { firstName: 'A & B' })
    expect(text).toContain('A & B')
    expect(text).toContain('here [https://a.b/c]')
    expect(text).not.toContain('<')
    expect(text).not.toContain('p{}')
  })

  it('has no line break in its subject, whatever a value holds', async () => {
    const { subject } = await renderEmail({ subject: 'Hi {{contact.city}}', text: '-' }, { city: 'X\r\nBcc: a@b.c' })
    expect(subject).toBe('Hi X Bcc: a@b.c')
  })

  it('is the same whenever it is rendered', async () => {
    const text = "{{ 'now' | date: '%Y-%m-%d %H:%M' }} {{ 'today' | date: '%Y' }}"
    expect((await renderEmail({ subject: 's', text })).text).toBe('2026-03-01 09:30 2026')
  })

  it('shows nothing of the prototypes of values', async () => {
    const text = '{{event.properties.constructor}}{{event.properties.__proto__}}{{contact.customFields.toString}}'
    expect((await renderEmail({ subject: 's', text }, {}, { name: 'e', properties: {} })).text).toBe('')
  })

  it('is compiled from MJML when it is saved', async () => {
    const mjml =
      '<mjml><mj-body><mj-section><mj-column><mj-text>Hello {{contact.lastName}}</mj-text></mj-column></mj-section></mj-body></mjml>'
    const version = await makeVersion({ en: { subject: 's', mjml } })
    expect(version.compiled['en']).toContain('{{contact.lastName}}')
    const { html, text } = await renderEmail({ subject: 's', mjml }, { lastName: '<b>' })
    expect(html).toContain('Hello &lt;b&gt;')
    expect(text).toContain('Hello <b>')
  })

  it('has the parts of its channel', async () => {
    const push = { title: 'Hi {{contact.firstName}}', body: 'b', url: ' https://a.b ' }
    expect(await render({ en: push }, {}, null, 'push')).toMatchObject({
      message: { title: 'Hi there', body: 'b', url: 'https://a.b' },
    })
    const whatsapp = { providerTemplate: 'welcome', parameters: ['{{contact.firstName}}', '{{business.name}}'] }
    expect(await render({ 'pt-BR': whatsapp, en: whatsapp }, { language: 'pt_br' }, null, 'whatsapp')).toMatchObject({
      message: { providerTemplate: 'welcome', providerLanguage: 'pt_BR', parameters: ['tudo bem', 'Acme & Sons'] },
    })
    const json = { body: '{"name": {{contact.lastName | json}} }' }
    expect(await render({ en: json }, { lastName: '"' }, null, 'webhook')).toMatchObject({
      message: { body: '{"name": "\\"" }' },
    })
    expect(await render({ en: { body: '{ {{contact.lastName}} }' } }, { lastName: '"' }, null, 'webhook')).toEqual({
      kind: 'failed',
      reason: 'body: it is not JSON',
    })
  })
})

describe('a template is refused', () => {
  const faultOf = async (variant: Variant) => {
    const checked = await checkVariants(renderer, { en: variant })
    return 'faults' in checked ? checked.faults.map(({ path, message }) => [path, message]) : []
  }
  it.each([
    ['{{ contact.nickname }}', 'contact.nickname'],
    ['{{ user.name }}', 'user.name'],
    ['{{ contact }}', 'it reads contact,'],
    ['{% assign c = contact %}{{ c.passwordHash }}', 'it reads contact,'],
    ['{{ contact[business.name] }}', 'contact.[business.name]'],
    ['{% if %}', 'line:1, col:6'],
    ['x\n{{ a', 'line:2, col:1'],
    ['{{ contact.city | shout }}', 'undefined filter: shout'],
    ["{% include 'x' %}", 'tag "include" not found'],
    ["{% render '/etc/passwd' %}", 'tag "render" not found'],
    ["{% layout 'x' %}", 'tag "layout" not found'],
    ['{{ event.properties.list | sample }}', 'undefined filter: sample'],
  ])('%s', async (text, message) => {
    expect(await faultOf({ subject: 's', text })).toEqual([
      ['variants.en.text', expect.stringContaining(message) as string],
    ])
  })

  it('with a code for what it reads that there is not', async () => {
    const checked = await checkVariants(renderer, { en: { subject: 's', text: '{{ user.name }}' } })
    expect(checked).toMatchObject({ faults: [{ code: 'reads', values: { value: 'user.name' } }] })
  })

  it.each([
    ['<mjml><mj-body><mj-foo></mj-foo></mj-body></mjml>', "Element mj-foo doesn't exist"],
    ['<p>none</p>', 'Malformed MJML'],
    [
      '<mjml><mj-body>{% if contact.city %}<mj-section></mj-section>{% endif %}</mj-body></mjml>',
      '{% if contact.city %} is lost in the HTML',
    ],
    [
      '<mjml><mj-body><mj-raw>{% if contact.city %}a{% endif %}</mj-raw>{% if contact.city %}<mj-section></mj-section>{% endif %}</mj-body></mjml>',
      '{% if contact.city %} is lost in the HTML',
    ],
    ['<mjml><mj-body><mj-raw>{{ contact.nickname }}</mj-raw></mj-body></mjml>', 'contact.nickname'],
    ['<mjml>\n<mj-body><mj-raw>{{ contact.city</mj-raw></mj-body></mjml>', 'line:2'],
  ])('with MJML %s', async (mjml, message) => {
    expect(await faultOf({ subject: 's', mjml })).toEqual([
      ['variants.en.mjml', expect.stringContaining(message) as string],
    ])
  })

  it('never for what may be read', async () => {
    const text =
      '{{contact.firstName}}{{contact["lastName"]}}{{contact.customFields.none_yet}}{{contact.customFields[event.name]}}' +
      '{% assign x = event.properties %}{{x.y}}{% for f in contact.customFields %}{{f[0]}}{{forloop.index}}{% endfor %}'
    expect(await faultOf({ subject: 's', text })).toEqual([])
  })
})

it('waits for one variant that takes too long, not for each', async () => {
  const hasty = createRenderService({ render: 60_000, check: 60_000, mjml: 1 })
  const impatient = hasty.of('business')
  try {
    const mjml = '<mjml><mj-body></mj-body></mjml>'
    const variant = { subject: 's', mjml }
    expect(await checkVariants(impatient, { en: variant, de: variant, fr: variant })).toEqual({
      faults: [{ path: 'variants.en.mjml', message: 'variants.en.mjml: the template takes too long' }],
    })
  } finally {
    await hasty.close()
  }
})

describe('a template that runs away fails its own message', () => {
  const failure = async (text: string) => {
    const started = performance.now()
    const rendering = await render({ en: { subject: 's', text } })
    expect(performance.now() - started).toBeLessThan(20_000)
    return rendering.kind === 'failed' ? rendering.reason : `rendered ${rendering.message.text?.length}`
  }
  const nested = (text: string, depth: number): string =>
    depth === 0 ? text : `{% for i in (1..90) %}${nested(text, depth - 1)}{% endfor %}`

  it.each([
    ['a long range', '{% for i in (1..1000000000) %}x{% endfor %}', /memory alloc limit/],
    ['nested loops', nested('x', 5), /too many steps/],
    ['nested loops without a body', nested('', 5), /too many steps/],
    ['a long output', nested('x'.repeat(1000), 2), /too large/],
    [
      'doubling',
      `{% assign a = 'xx' %}${'{% assign a = a | append: a %}'.repeat(40)}{{ a }}`,
      /memory alloc limit|too large/,
    ],
    [
      'doubling captures',
      `{% assign a = 'xx' %}${'{% capture a %}{{a}}{{a}}{% endcapture %}'.repeat(40)}`,
      /too large/,
    ],
    ['a long date', '{{ "2026-01-01" | date: "%1000000000Y" }}', /memory alloc limit/],
  ])('%s', async (_, text, message) => {
    expect(await failure(text)).toMatch(message)
  })

  it('also when the thread hangs: it is ended, and the next message is rendered', async () => {
    const hasty = createRenderService({ render: atLoad(500), check: 60_000, mjml: 60_000 })
    const impatient = hasty.of('business')
    try {
      const template = await makeVersion({ en: { subject: '{{contact.city}}', text: nested('x', 2) } })
      const wanted = { values: valuesOf({ city: 'Rome' }), language: null, now: NOW }
      expect(await renderMessage(impatient, template, wanted)).toMatchObject({ message: { subject: 'Rome' } })
      // Takes minutes, but stays within all other limits.
      const slow = '{{ event.properties.list | where_exp: "item", "event.properties.list contains item" | size }}'
      const list = Array.from({ length: 30_000 }, (_, n) => `${n}`)
      const values = valuesOf({}, { name: 'e', properties: { list } })
      const hanging = { ...template, templateId: 'slow', variants: { en: { subject: 's', text: slow } } }
      const [slowOne, next] = await Promise.all([
        renderMessage(impatient, hanging, { values, language: null, now: NOW }),
        renderMessage(impatient, template, wanted),
      ])
      expect(slowOne).toEqual({ kind: 'failed', reason: 'the template takes too long' })
      expect(next).toMatchObject({ message: { subject: 'Rome' } })
    } finally {
      await hasty.close()
    }
  })
})

describe('messages of several businesses at the same time', () => {
  /** Takes minutes, but stays within all other limits. */
  const SLOW = '{{ event.properties.list | where_exp: "item", "event.properties.list contains item" | size }}'
  const LIST = { list: Array.from({ length: 30_000 }, (_, n) => `${n}`) }
  const MANY = 15
  const BUSINESSES = ['a', 'b', 'c']

  it('each have their own result, and only the one that hangs fails', async () => {
    const hasty = createRenderService({ render: atLoad(500), check: 60_000, mjml: 60_000 })
    try {
      const template = await makeVersion({ en: { subject: '{{contact.city}}', text: 'x' } })
      const hanging = { ...template, templateId: 'hangs', variants: { en: { subject: 's', text: SLOW } } }
      const broken = { ...template, templateId: 'broken', variants: { en: { subject: 's', text: '{{' } } }
      const wanted = { values: valuesOf(), language: null, now: NOW }
      // The thread is started, so that the others are sent to it together.
      await renderMessage(hasty.of('a'), template, wanted)
      const several = BUSINESSES.flatMap((business) =>
        Array.from({ length: MANY }, (_, n) => {
          const city = `${business}${n}`
          return renderMessage(hasty.of(business), template, { ...wanted, values: valuesOf({ city }) })
        }),
      )
      const [hung, failed] = await Promise.all([
        renderMessage(hasty.of('b'), hanging, { ...wanted, values: valuesOf({}, { name: 'e', properties: LIST }) }),
        renderMessage(hasty.of('c'), broken, wanted),
      ])
      expect(hung).toEqual({ kind: 'failed', reason: 'the template takes too long' })
      expect(failed).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^text: /) as string })
      const subjects = (await Promise.all(several)).map((one) => one.kind === 'rendered' && one.message.subject)
      expect(subjects).toEqual(
        BUSINESSES.flatMap((business) => Array.from({ length: MANY }, (_, n) => `${business}${n}`)),
      )
    } finally {
      await hasty.close()
    }
  })
})

it('keeps 200 templates parsed and parses the others again', async () => {
  const template = await makeVersion({ en: { subject: '{{contact.city}}', text: '-' } })
  for (const round of [1, 2])
    for (let n = 0; n < 250; n++) {
      const rendering = await renderMessage(
        renderer,
        { ...template, templateId: `many-${n}` },
        {
          values: valuesOf({ city: `${round}-${n}` }),
          language: null,
          now: NOW,
        },
      )
      expect(rendering).toMatchObject({ message: { subject: `${round}-${n}` } })
    }
})

it('fails what waits when it is closed', async () => {
  const closing = createRenderService()
  const waiting = closing.of('business').check([])
  await closing.close()
  expect(await waiting).toEqual({ kind: 'ended', reason: 'the process stops' })
})
