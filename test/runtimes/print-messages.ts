/** Prints what templates say of dates and money in each language, and which depths have a text, as JSON. Run on each runtime by a test. */
import { createLiquidEngine } from '../../src/messages/templates/liquid-engine.ts'
import { MAX_DEPTH, makeText } from '../../src/messages/templates/make-text.ts'
import { GREETING_LANGUAGES } from '../../src/rules/messages/greeting-word.ts'

const engine = createLiquidEngine(false)
const NOW = Date.UTC(2026, 11, 1, 9, 0)
const DAYS = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-0${(month % 7) + 1}`)
const AMOUNTS = [59.7, -1234567.891, 0]
const CURRENCIES = ['EUR', 'USD', 'GBP', 'JPY', 'ILS', 'KWD', 'BRL', 'CHF', 'SEK', 'INR', 'XXX', 'ZZZ']

const DATES =
  '{% for day in days %}{{ day | date: "%-d %B %b" }}|{{ day | date: "%B|%b|%A|%a|%x" }};{% endfor %}{{ "now" | date: "%c %X" }}'
const MONEY = '{% for code in codes %}{% for one in amounts %}{{ one | money: code }};{% endfor %}{% endfor %}'
const WRITTEN =
  '{{ "2026-12-01T09:00:00" | date: "%H:%M" }} {{ "2026-03-29T02:30:00" | date: "%H:%M" }} {{ "1 Dec 2026" | date: "%Y-%m-%d" }}'

function say(source: string, language: string): string {
  const values = { days: DAYS, amounts: AMOUNTS, codes: CURRENCIES }
  return engine.render(engine.parse(source), values, { now: NOW, language, currency: 'EUR' })
}

const languages = [...GREETING_LANGUAGES, 'zh-TW', 'en-GB', 'xx']
const said = Object.fromEntries(
  languages.map((one) => [one, [DATES, MONEY, WRITTEN].map((source) => say(source, one))]),
)

/** Whether as many elements in one another as are allowed have a text, and one more. */
const depths = [MAX_DEPTH, MAX_DEPTH + 1].map((depth) =>
  ['div', 'ul', 'blockquote', 'b'].map(
    (tag) => makeText(`${`<${tag}>`.repeat(depth)}x${`</${tag}>`.repeat(depth)}`) !== null,
  ),
)
process.stdout.write(JSON.stringify({ said, depths }))
