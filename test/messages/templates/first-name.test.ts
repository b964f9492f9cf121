/** A missing first name: what is printed for it, and what conditions say. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLiquidEngine } from '../../../src/messages/templates/liquid-engine.ts'

const html = createLiquidEngine(true)
const plain = createLiquidEngine(false)
const engines = [html, plain]

const renderWith = (engine: typeof html, source: string, firstName: string | null = null, language = 'en') =>
  engine.render(
    engine.parse(source),
    { contact: { firstName, lastName: null, email: 'ada@example.com' } },
    { now: 0, language, currency: 'EUR' },
  )

describe('without a first name', () => {
  it.each([
    ['{{ contact.firstName | default: "x" }}', 'x'],
    ['<a href="/?n={{ contact.firstName | default: "x" }}">', '<a href="/?n=x">'],
    ['{{ contact.firstName | capitalize | default: "x" }}', 'x'],
    ['{{ contact.firstName | default: "x" | capitalize }}', 'X'],
    ['{{ contact.firstName | append: "!" | default: "x" }}', 'x'],
    ['{% assign n = contact.firstName | strip %}{{ n | default: "x" }}', 'x'],
    ['{{ contact["firstName"] | default: "x" }}', 'x'],
    ['{% echo contact.firstName | default: "x" %}', 'x'],
    ['{{ contact.firstName | default: contact.lastName | default: "x" }}', 'x'],
    ['{{ contact.firstName | escape | default: "x" }}', 'x'],
    ['{% for i in (1..2) %}{{ contact.firstName | default: i }}{% endfor %}', '12'],
  ])('%s prints %s: the filter default wins', (source, printed) => {
    for (const engine of engines) expect(renderWith(engine, source)).toBe(printed)
  })

  it.each([
    ['{{ contact.firstName }}', 'there'],
    ['{{ contact.firstName | capitalize }}', 'There'],
    ['{{ contact.firstName | append: "!" | upcase }}', 'THERE!'],
    ['{{ "Hello " | append: contact.firstName | append: "." }}', 'Hello there.'],
    ['{{ contact.lastName | default: contact.firstName }}', 'there'],
    ['{% assign n = contact.firstName %}{{ n }}', 'there'],
    ['{% capture n %}Hello {{ contact.firstName }}{% endcapture %}{{ n }}', 'Hello there'],
    ['{% echo contact.firstName %}', 'there'],
    ['{% liquid echo contact.firstName %}', 'there'],
    ['{% for i in (1..2) %}{{ contact.firstName }}{% endfor %}', 'therethere'],
    ['{{ contact.firstName | url_encode }}', 'there'],
    ['{{ contact.firstName | slice: 0 }}', 't'],
    ['{{ contact.firstName | split: "h" | join: "-" }}', 't-ere'],
    ['{{ contact.firstName | raw }}', 'there'],
  ])('%s prints the greeting word: %s', (source, printed) => {
    for (const engine of engines) expect(renderWith(engine, source)).toBe(printed)
  })

  it('JSON has the greeting word as text', () => {
    expect(renderWith(plain, '{{ contact.firstName | json }}')).toBe('"there"')
    expect(renderWith(plain, '{{ contact | json }}')).toContain('"firstName":"there"')
  })

  it('the word is in the language of the variant', () => {
    expect(renderWith(html, '{{ contact.firstName }}', null, 'de')).toBe('zusammen')
    expect(renderWith(html, '{{ contact.firstName | default: "x" }}', null, 'de')).toBe('x')
  })
})

describe('a condition on the first name shows whether there is one', () => {
  const NONE = [
    'contact.firstName == blank',
    'contact.firstName == empty',
    'contact.firstName == nil',
    'contact.firstName == ""',
    'blank == contact.firstName',
    '"" == contact.firstName',
    'contact.firstName.size == 0',
    'not contact.firstName',
    'contact.firstName != "Ada"',
  ]
  const THERE_IS = [
    'contact.firstName',
    'contact.firstName != blank',
    'contact.firstName != empty',
    'contact.firstName != ""',
    'contact.firstName.size > 0',
    'contact.firstName == "Ada"',
    'contact.firstName contains "d"',
    'contact.firstName and contact.email',
  ]
  const answer = (engine: typeof html, condition: string, name: string | null) =>
    renderWith(engine, `{% if ${condition} %}yes{% else %}no{% endif %}`, name)

  it.each([...NONE.map((one) => [one, 'yes', 'no'] as const), ...THERE_IS.map((one) => [one, 'no', 'yes'] as const)])(
    '%s is %s without one, and %s for Ada',
    (condition, without, withOne) => {
      for (const engine of engines) {
        expect(answer(engine, condition, null)).toBe(without)
        expect(answer(engine, condition, 'Ada')).toBe(withOne)
      }
    },
  )

  it('also in unless, in case, of an assigned value and after filters', () => {
    const sources: [string, string, string][] = [
      ['{% unless contact.firstName %}none{% else %}one{% endunless %}', 'none', 'one'],
      ['{% case contact.firstName %}{% when "Ada" %}one{% when blank %}none{% endcase %}', 'none', 'one'],
      ['{% assign n = contact.firstName | strip | capitalize %}{% if n %}one{% else %}none{% endif %}', 'none', 'one'],
      ['{{ contact.firstName | size }}', '0', '3'],
    ]
    for (const engine of engines)
      for (const [source, none, one] of sources) {
        expect(renderWith(engine, source)).toBe(none)
        expect(renderWith(engine, source, 'Ada')).toBe(one)
      }
  })
})

it('with a first name, no chain of filters prints a default', () => {
  const filters = [
    'capitalize',
    'upcase',
    'strip',
    'append: "a"',
    'prepend: contact.firstName',
    'escape',
    'truncate: 40',
  ]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...filters)), fc.constantFrom(...engines), (chain, engine) => {
      const value = ['contact.firstName', ...chain].join(' | ')
      const printed = renderWith(engine, `{{ ${value} }}`, 'Ada')
      expect(renderWith(engine, `{{ ${value} | default: "none" }}`, 'Ada')).toBe(printed)
      expect(renderWith(engine, `{{ ${value} | default: "none" }}`)).toBe('none')
      expect(renderWith(engine, `{{ ${value} }}`)).toBe(renderWith(engine, `{{ ${value} }}`, 'there'))
    }),
  )
})
