/** Templates are refused when they are saved, in plain words and in little time. */
import { afterAll, describe, expect, it } from 'vitest'
import { checkVariants } from '../../../src/messages/templates/check-variants.ts'
import { createLiquidEngine } from '../../../src/messages/templates/liquid-engine.ts'
import { MAX_DEPTH } from '../../../src/messages/templates/make-text.ts'
import { MAX_VARIANT_BYTES } from '../../../src/messages/templates/read-variants.ts'
import { renderMessage } from '../../../src/messages/templates/render-message.ts'
import { createRenderService } from '../../../src/messages/templates/renderer.ts'
import { UNKNOWN_CONTACT } from '../../../src/messages/templates/contact-values.ts'
import type { Variant } from '../../../src/messages/templates/template.ts'
import { atLoad } from '../../support/at-load.ts'

const service = createRenderService()
const renderer = service.of('business')
afterAll(() => service.close())

async function faultsOf(variant: Variant) {
  const checked = await checkVariants(renderer, { en: { subject: 's', ...variant } })
  return 'faults' in checked ? checked.faults.map(({ path, message, code }) => [path, message, code]) : []
}

describe('the data of a send call', () => {
  const readsOf = async (variants: Record<string, Variant>) => {
    const checked = await checkVariants(renderer, variants)
    if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
    const { readsData, dataNames } = checked
    return { readsData, dataNames }
  }

  it('is known by the names directly under it, of all parts of each variant', async () => {
    const en = {
      subject: '{{data.subject}} {{ data["order no"] }}',
      html: '{% for item in data.items %}{{item.name}} {{data.total.net}}{% endfor %}{% if data.note %}x{% endif %}',
    }
    const mjml = `<mjml><mj-body><mj-section><mj-column><mj-text>{{data.code}}</mj-text></mj-column></mj-section></mj-body></mjml>`
    expect(await readsOf({ en, de: { subject: 'Hallo', mjml }, fr: { subject: 'Bonjour', text: 'x' } })).toEqual({
      readsData: true,
      dataNames: { en: ['items', 'note', 'order no', 'subject', 'total'], de: ['code'], fr: [] },
    })
  })

  it('may be read as a whole, and by a name that a value decides: then no name is required', async () => {
    const en = { subject: 's', text: '{{data | json}} {{data[contact.city]}}' }
    expect(await readsOf({ en })).toEqual({ readsData: true, dataNames: { en: [] } })
    expect(await readsOf({ en: { subject: 's', text: '{{event.properties.data}}' } })).toMatchObject({
      readsData: false,
    })
  })
})

const nest = (opening: string, closing: string, depth: number, inner = 'x') =>
  opening.repeat(depth) + inner + closing.repeat(depth)

describe('elements in one another', () => {
  it.each([
    ['<div>', '</div>'],
    ['<table><tr><td>', '</td></tr></table>'],
    ['<ul><li>', '</li></ul>'],
  ])('are accepted up to a limit: %s', async (opening, closing) => {
    const each = opening.split('<').length - 1
    const most = Math.floor(MAX_DEPTH / each)
    expect(await faultsOf({ html: nest(opening, closing, most) })).toEqual([])
    expect(await faultsOf({ html: nest(opening, closing, most + 1) })).toEqual([
      ['variants.en.html', 'variants.en.html: it has more than 256 elements in one another', 'too_deep'],
    ])
  })

  it('are refused in MJML, before it is compiled', async () => {
    const wrap = (inner: string) =>
      `<mjml><mj-body><mj-section><mj-column><mj-text>${inner}</mj-text></mj-column></mj-section></mj-body></mjml>`
    expect(await faultsOf({ mjml: wrap(nest('<b>', '</b>', MAX_DEPTH)) })).toEqual([
      ['variants.en.mjml', 'variants.en.mjml: it has more than 256 elements in one another', 'too_deep'],
    ])
  })

  it('fail their own message when a loop has made them', async () => {
    const html = `{% for i in (1..${MAX_DEPTH + 1}) %}<div>{% endfor %}x`
    const variants = { en: { subject: 's', html } }
    expect(await faultsOf({ html })).toEqual([])
    const template = {
      templateId: 't',
      version: 1,
      channel: 'email' as const,
      defaultLanguage: 'en',
      variants,
      compiled: {},
    }
    const values = {
      contact: UNKNOWN_CONTACT,
      event: null,
      unsubscribeUrl: '',
      preferencesUrl: '',
      business: { name: 'B' },
    }
    expect(await renderMessage(renderer, template, { values, language: null, now: 0 })).toEqual({
      kind: 'failed',
      reason: 'html: it has more than 256 elements in one another',
    })
  })
})

it('takes no minute for as many outputs as fit', async () => {
  const outputs = (output: string) => output.repeat(Math.floor((MAX_VARIANT_BYTES - 100) / output.length))
  for (const output of ['{{event.name}}', '{{event.name}}\n'])
    expect(await faultsOf({ text: outputs(output) })).toEqual([])
  const many = Array.from({ length: 9000 }, (_, n) => `{{contact.none${n}}}`).join('\n')
  const started = performance.now()
  const faults = await faultsOf({ text: many })
  expect(performance.now() - started).toBeLessThan(atLoad(5000))
  expect(faults).toHaveLength(20)
  expect(faults[0]?.[1]).toContain('it reads contact.none0,')
})

it('says where a fault is, in the first line and in later ones', () => {
  const engine = createLiquidEngine(false)
  const position = (source: string) => {
    try {
      engine.parse(source)
    } catch (error) {
      return /line:\d+, col:\d+/.exec(String(error))?.[0]
    }
    return undefined
  }
  expect(position('{% if %}')).toBe('line:1, col:6')
  expect(position('a\n\n bc {{ x | none }}')).toBe('line:3, col:5')
  expect(position('{{ a }}\n{% wrong %}\n')).toBe('line:2, col:1')
})
