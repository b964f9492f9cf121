/** Filters of templates: what they escape, calculate and show. */
import fc from 'fast-check'
import { Liquid } from 'liquidjs'
import { describe, expect, it } from 'vitest'
import { createLiquidEngine } from '../../../src/messages/templates/liquid-engine.ts'

const html = createLiquidEngine(true)
const plain = createLiquidEngine(false)
const NOW = Date.UTC(2026, 2, 1, 9, 30)
const VALUES = {
  contact: { firstName: "Zoë O'Brien & Söhne", city: 'a\n<b>', lastName: '' },
  event: {
    properties: {
      price: '19.90',
      zone: '',
      tags: ['a&b', '<c>'],
      url: 'https://x.example/?a=1&b=2',
      items: [{ p: 0.1 }, { p: '0.2' }],
      nested: ['<a>', ['<b>', ['"c"']]],
      o: { k: '<i>' },
    },
  },
}

const renderWith = (engine: typeof html, source: string, language = 'en', currency = 'EUR') =>
  engine.render(engine.parse(source), VALUES, { now: NOW, language, currency })
const inHtml = (source: string) => renderWith(html, source)
const inText = (source: string, language?: string, currency?: string) => renderWith(plain, source, language, currency)

const NAME = 'Zoë O&#39;Brien &amp; Söhne'

describe('a value in HTML is escaped once', () => {
  it.each([
    ['{{ contact.firstName }}', NAME],
    ['{{ contact.firstName | escape }}', NAME],
    ['{{ contact.firstName | escape_once }}', NAME],
    ['{{ contact.firstName | xml_escape }}', NAME],
    ['{{ contact.firstName | escape | escape | escape_once }}', NAME],
    ['{{ contact.firstName | escape | raw }}', NAME],
    ['{% assign name = contact.firstName | escape %}{{ name }}', NAME],
    ['{% capture name %}{{ contact.firstName }}{% endcapture %}{{ name }}', NAME],
    ['{% echo contact.firstName | escape %}', NAME],
    ['{{ contact.firstName | escape | upcase | truncate: 8 }}', 'ZOË O...'],
    ['{{ contact.firstName | escape | split: "" | first }}', 'Z'],
    ['{{ contact.lastName | escape | default: "a & b" }}', 'a &amp; b'],
    ['{{ contact.city | escape | append: contact.firstName }}', `a\n&lt;b&gt;${NAME}`],
    ['{{ event.properties.tags | join: ", " | escape }}', 'a&amp;b, &lt;c&gt;'],
    ['{{ event.properties.tags | escape }}', 'a&amp;b&lt;c&gt;'],
    ['{{ event.properties.url | escape }}', 'https://x.example/?a=1&amp;b=2'],
    ['{{ event.properties.url | uri_escape }}', 'https://x.example/?a=1&amp;b=2'],
    ['{{ event.properties.url | url_encode }}', 'https%3A%2F%2Fx.example%2F%3Fa%3D1%26b%3D2'],
    ['{{ event.properties.url | escape | url_encode }}', 'https%3A%2F%2Fx.example%2F%3Fa%3D1%26b%3D2'],
    ['{{ contact.city | strip_html }}', 'a\n'],
  ])('%s', (source, expected) => {
    expect(inHtml(source)).toBe(expected)
  })

  it.each([
    ['{{ contact.city | newline_to_br }}', 'a<br />\n&lt;b&gt;'],
    ['{{ contact.city | escape | newline_to_br }}', 'a<br />\n&lt;b&gt;'],
    ['{{ contact.city | newline_to_br | escape }}', 'a<br />\n&lt;b&gt;'],
    ['{{ contact.city | newline_to_br | raw }}', 'a<br />\n&lt;b&gt;'],
    ['{{ contact.city | newline_to_br | append: contact.firstName }}', `a<br />\n&lt;b&gt;${NAME}`],
    ['{{ contact.city | newline_to_br | replace: "<br />", ", " }}', 'a, \n&lt;b&gt;'],
    ['{% capture c %}<b>{{ contact.city }}</b>{% endcapture %}{{ c }}', '<b>a\n&lt;b&gt;</b>'],
    [
      '{% capture c %}<b>{{ contact.city }}</b>{% endcapture %}{{ c | append: contact.city }}',
      '<b>a\n&lt;b&gt;</b>a\n&lt;b&gt;',
    ],
    ['{% capture c %}<i>{{ contact.firstName }}</i>{% endcapture %}{{ c | strip_html }}', NAME],
  ])('and elements of the template stay elements: %s', (source, expected) => {
    expect(inHtml(source)).toBe(expected)
  })

  it.each([
    ['{{ contact.city | raw }}', 'a\n<b>'],
    ['{{ contact.city | raw | escape }}', 'a\n&lt;b&gt;'],
    ['{% assign c = contact.city | raw %}{{ c }}', 'a\n<b>'],
    ['{{ contact.city | raw | raw }}', 'a\n<b>'],
    ['{{ contact.city | raw | strip }}', 'a\n&lt;b&gt;'],
    ['{{ contact.city | raw | append: "<i>" }}', 'a\n&lt;b&gt;&lt;i&gt;'],
    ['{{ contact.city | raw | newline_to_br }}', 'a<br />\n&lt;b&gt;'],
    ['{{ contact.city | raw | strip | raw }}', 'a\n<b>'],
    ['{{ event.properties.tags | join: ", " | raw | default: "none" }}', 'a&amp;b, &lt;c&gt;'],
  ])('unless the template says raw: %s', (source, expected) => {
    expect(inHtml(source)).toBe(expected)
  })

  it.each([
    ['nested | join: br', '&lt;a&gt;<br>&lt;b&gt;,&#34;c&#34;'],
    ['nested | join: brRaw', '&lt;a&gt;<br>&lt;b&gt;,&#34;c&#34;'],
    ['tags | concat: event.properties.nested | join: br', 'a&amp;b<br>&lt;c&gt;<br>&lt;a&gt;<br>&lt;b&gt;,&#34;c&#34;'],
    ['nested | push: br', '&lt;a&gt;&lt;b&gt;&#34;c&#34;<br>'],
    ['tags | push: br | sort | reverse | join: "+"', 'a&amp;b+<br>+&lt;c&gt;'],
    // An object cannot be escaped before the filter.
    ['o | json: br', '{\n&lt;br&gt;&#34;k&#34;: &#34;&lt;i&gt;&#34;\n}'],
    ['items | push: br | map: "p" | join: br', '0.1<br>0.2<br>'],
    ['tags | json: br', '[\n&lt;br&gt;&#34;a&amp;b&#34;,\n&lt;br&gt;&#34;&lt;c&gt;&#34;\n]'],
  ])('and so are values in lists and objects: %s', (source, expected) => {
    const define = '{% capture br %}<br>{% endcapture %}{% assign brRaw = "<br>" | raw %}'
    expect(inHtml(`${define}{{ event.properties.${source} }}`)).toBe(expected)
  })

  it('and what is hidden in a captured value is escaped when a filter reads it', () => {
    const hidden = Buffer.from('<b>').toString('base64')
    expect(inHtml(`{% capture c %}${hidden}{% endcapture %}{{ c | base64_decode }}`)).toBe('&lt;b&gt;')
  })

  it('and what was captured compares, splits and counts as a text', () => {
    const source =
      '{% capture list %}a,b{% endcapture %}{% assign parts = list | split: "," %}' +
      '{% for one in parts %}{{ one }}{% if one == "b" %}!{% endif %};{% endfor %}{{ list.size }}' +
      '{% if list contains "a," %}c{% endif %}{% case list %}{% when "a,b" %}w{% endcase %}' +
      '{% capture none %}{% endcapture %}{% if none == blank %}n{% endif %}{{ parts | join: "+" }}'
    expect(inHtml(source)).toBe('a;b!;3cwna+b')
  })

  it('and in a text or a subject filters do what they say', () => {
    expect(inText('{{ contact.city }}|{{ contact.city | escape }}|{{ contact.city | newline_to_br }}')).toBe(
      'a\n<b>|a\n&lt;b&gt;|a<br />\n<b>',
    )
  })
})

/** Names of the template below. Those that are captured have no sign of HTML of their own. */
const NAMES = ['text', 'nested', 'object', 'coded', 'captured', 'unescaped', 'escaped', '"quoted"', '2']
const FILTERS = Object.keys(new Liquid().filters).filter((name) => name !== 'sample')
const anyText = fc.constantFrom('<q>', '"', "a'b <q\n", '&lt;', 'x,<y>')
const anyNested = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    anyText,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(anyText, tie('value')),
  ),
})).value
const anyCall = fc
  .tuple(fc.constantFrom(...FILTERS), fc.array(fc.constantFrom(...NAMES), { maxLength: 2 }))
  .map(([name, args]) => `${name}${args.length === 0 ? '' : `: ${args.join(', ')}`}`)

it('no chain of filters prints a sign of HTML of a value', () => {
  let rendered = 0
  const calls = fc.array(anyCall, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(fc.constantFrom(...NAMES), calls, anyText, anyNested, (name, chain, text, nested) => {
      // Alone at the end, `raw` leaves a value as it is.
      const source =
        '{% capture captured %}{{ text }}{{ coded }}{% endcapture %}{% assign unescaped = "-" | raw %}' +
        `{% assign escaped = text | escape %}{% assign made = ${[name, ...chain].join(' | ')} | downcase %}` +
        `{% assign list = ${[name, ...chain.filter((one) => !one.startsWith('raw'))].join(' | ')} %}` +
        '{{ made }}{{ list }}{% for one in list %}{{ one }}{{ one | append: captured }}{% endfor %}'
      const values = { text, nested: [nested, text], object: { [text]: nested }, coded: btoa('<q "\'>') }
      const shown = renderOrNothing(source, values)
      if (shown !== undefined) rendered += 1
      expect(shown?.replaceAll('<br />', '') ?? '').not.toMatch(/[<>"']/)
    }),
    { numRuns: 500 },
  )
  expect(rendered).toBeGreaterThan(250)
})

/** Undefined when a filter refuses its inputs. */
function renderOrNothing(source: string, values: object): string | undefined {
  try {
    return html.render(html.parse(source), values, { now: NOW, language: 'en', currency: 'EUR' })
  } catch (error) {
    if (error instanceof Error && ['RenderError', 'ParseError', 'TokenizationError'].includes(error.name))
      return undefined
    if (error instanceof Error && /memory/.test(error.message)) return undefined
    throw error
  }
}

describe('numbers are decimal', () => {
  it.each([
    ['{{ event.properties.price | times: 3 }}', '59.7'],
    ['{{ 0.1 | plus: 0.2 }} {{ 1 | minus: 0.9 }}', '0.3 0.1'],
    ['{{ 59.7 | divided_by: 3 }} {{ 10 | divided_by: 4 }} {{ 7 | divided_by: 2, true }}', '19.9 2.5 3'],
    ['{{ 10 | divided_by: 3 }} {{ 1 | divided_by: 0 }}', '3.3333333333333335 Infinity'],
    ['{{ 5.3 | modulo: 0.1 }} {{ -7 | modulo: 3 }}', '0 2'],
    ['{{ 1.005 | round: 2 }} {{ 2.5 | round }} {{ -2.5 | round }} {{ 1234.5 | round: -2 }}', '1.01 3 -3 1200'],
    ['{{ 9007199254740991 | plus: 0 }} {{ "1e21" | times: 2 }} {{ "1e-7" | times: 3 }}', '9007199254740991 2e+21 3e-7'],
    ['{{ event.properties.items | sum: "p" }} {{ "0.1,0.2" | split: "," | sum }}', '0.3 0.3'],
    ['{{ "many" | plus: 1 }} {{ contact.none | times: 2 }}', '1 0'],
  ])('%s', (source, expected) => {
    expect(inText(source)).toBe(expected)
  })
})

describe('money', () => {
  it.each([
    ['en', '{{ event.properties.price | times: 3 | money: event.properties.currency }}', '€59.70'],
    ['de', '{{ event.properties.price | times: 3 | money }}', '59,70 €'],
    ['de', '{{ 1.005 | money: "usd" }}', '1,01 $'],
    ['en', '{{ 1234.5 | money: "JPY" }} {{ -1.5 | money: "KWD" }}', '¥1,235 -KWD 1.500'],
    ['en', '{{ 5 | money: "XXX" }} {{ 1234.5 | money: "points" }}', '5.00 XXX 1,234.50 points'],
    ['en', '[{{ "free" | money }}{{ contact.none | money }}]', '[free]'],
  ])('in %s: %s', (language, source, expected) => {
    expect(inText(source, language).replaceAll('\u00A0', ' ')).toBe(expected)
  })
})

describe('dates', () => {
  it.each([
    ['2026-12-01T09:00:00', '%H:%M', '09:00'],
    ['2026-12-01T09:00+02', '%H:%M', '07:00'],
    ['20261201T090000Z', '%-d %B %Y', '1 December 2026'],
    ['2026-12-01T09:00:00,5Z', '%S.%L', '00.500'],
    ['2026-12-31T23:59:60Z', '%H:%M:%S', '23:59:59'],
    ['2026-12-01', '%Y-%m-%d %H:%M', '2026-12-01 00:00'],
    ['2026-12-01 09:00:00 +0200', '%H:%M', '07:00'],
    ['Tue, 01 Dec 2026 09:00:00 +0200', '%H:%M', '07:00'],
    ['March 14, 2016', '%b %d, %y', 'Mar 14, 16'],
    ['1700000000', '%Y-%m-%d', '2023-11-14'],
    // These are shown as they are.
    ['12/01/2026', '%Y', '12/01/2026'],
    ['2026-02-30', '%Y', '2026-02-30'],
    ['Room 5', '%Y', 'Room 5'],
  ])('%s | date: %s', (value, format, expected) => {
    expect(inText(`{{ "${value}" | date: "${format}" }}`)).toBe(expected)
  })

  it.each([
    ['', '09:30 +0000'],
    [', "Europe/Berlin"', '10:30 Europe/Berlin'],
    [', "+05:30"', '15:00 +0530'],
    [', 360', '03:30 -0600'],
    [', event.properties.zone', '09:30 +0000'],
    [', event.properties.none', '09:30 +0000'],
    [', "Mars/Base"', '09:30 UTC'],
    [', "+99:00"', '09:30 +0000'],
  ])('are shown in the zone%s', (zone, expected) => {
    expect(inText(`{{ "now" | date: "%H:%M %Z"${zone} }}`)).toBe(expected)
  })

  it.each([
    ['en', '1 March, March, Sunday, Sun, Mar'],
    ['de', '1 März, März, Sonntag, So, März'],
    ['he', '1 מרץ, מרץ, יום ראשון, יום א׳, מרץ'],
    ['ru', '1 марта, март, воскресенье, вс, мар.'],
    ['xx', '1 March, March, Sunday, Sun, Mar'],
  ])('have names in %s', (language, expected) => {
    const source = '{{ "now" | date: "%-d %B" }}{% for code in codes %}, {{ "now" | date: code }}{% endfor %}'
    const parsed = plain.parse(`{% assign codes = "%B,%A,%a,%b" | split: "," %}${source}`)
    expect(plain.render(parsed, VALUES, { now: NOW, language, currency: '' })).toBe(expected)
  })

  it('have every code of strftime', () => {
    const codes = '%^a|%_m|%-m|%6Y|%#p|%j|%U|%W|%u|%w|%s|%N|%3N|%q|%C|%y|%I|%l|%k|%e|%P|%h|%:z|%%|%Q|%t|%n'
    expect(inText(`{{ "now" | date: "${codes}" }}`)).toBe(
      'SUN| 3|3|002026|am|060|09|08|7|0|1772357400|000000000|000|st|20|26|09| 9| 9| 1|am|Mar|+00:00|%|%Q|\t|\n',
    )
  })

  it('have the other forms of LiquidJS', () => {
    const forms = ['date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string: "ordinal", "US"']
    expect(forms.map((form) => inText(`{{ "now" | ${form} }}`, form === 'date_to_rfc822' ? 'de' : 'en'))).toEqual([
      '2026-03-01T09:30:00+00:00',
      'Sun, 01 Mar 2026 09:30:00 +0000',
      '01 Mar 2026',
      'March 1st, 2026',
    ])
  })
})
