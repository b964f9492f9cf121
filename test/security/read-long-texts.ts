/**
 * Reads texts on which a pattern that backtracks would run for ever, in every field, as the front door and the SDKs do.
 * Prints the number of texts.
 */
import { randomUUID } from 'node:crypto'
import type { Business } from '../../src/businesses/find-business.ts'
import { readBrowserEvent } from '../../src/front-door/routes/browser/read-browser-event.ts'
import { readEvent } from '../../src/front-door/routes/sdk/read-event.ts'
import { readIdentify } from '../../src/front-door/routes/sdk/read-identify.ts'
import { cleanUrl } from '../../src/sdk/browser/clean-url.ts'
import { keysOf } from '../../src/sdk/node/order.ts'

const LENGTH = 200_000
const PIECES = [
  'a',
  ' ',
  '\t',
  '@',
  'a@',
  'a ',
  '_a',
  'a_',
  '0',
  '1:',
  '+',
  '-',
  '١',
  '/',
  'a/',
  '.',
  ',',
  '#',
  ';',
  '~',
  '2020-',
  'T',
  'a-',
  '\\',
  '[',
  '字',
]
const TEXTS = PIECES.flatMap((piece) => {
  const many = piece.repeat(LENGTH / piece.length)
  return [many, `${many}!`, `${many}a`, `!${many}`, `a@${many}`, `2020-01-01T00:00:00.${many}`, `Area/${many}`]
})
const BUSINESS: Business = {
  id: randomUUID(),
  name: 'n',
  active: true,
  removed: false,
  rateLimit: 1,
  currency: 'USD',
  country: 'IL',
  timezone: 'UTC',
  origins: [],
  bots: 'ignore',
  webTriggers: [],
}
const FIELDS = ['event', 'occurredAt', 'type', 'currency', 'idempotencyKey', 'businessId', 'visitorId']
const EVENT = { event: 'e', identity: { email: 'a@b' } }

let count = 0
function read(body: object): void {
  readEvent({ ...EVENT, ...body }, BUSINESS, 0)
  readIdentify({ ...EVENT, ...body }, { business: BUSINESS, keyed: true, now: 0 })
  readBrowserEvent({ ...EVENT, ...body }, BUSINESS, 0)
  count += 1
}

/** The whole text, and the text cut to the lengths at which the limits allow a closer look. */
const cut = (text: string): string[] => [
  text,
  ...[64, 255, 320, 4096].flatMap((most) => [text.slice(0, most), text.slice(-most)]),
]

for (const text of TEXTS.flatMap(cut)) {
  for (const field of FIELDS) read({ [field]: text })
  for (const kind of ['email', 'phone', 'platformCustomerId']) {
    read({ identity: { [kind]: text } })
    keysOf({ identity: { [kind]: text } })
  }
  for (const part of ['', '?a=', '#/']) cleanUrl(`https://shop.example/${part}${text}`)
  read({ tags: [text], traits: { [text]: text, a: text } })
  read({ profile: { name: text }, method: text })
  read({ messageId: text, page: { url: text }, latest: { ageMs: 0, url: text, utm: { source: text } } })
  read({ profile: { language: text, timezone: text } })
}
process.stdout.write(String(count))
