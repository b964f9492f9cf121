/** An event has the same fields in its body, on its way to the timeline, in files to import, in the SDK and in the docs. */
import { readFileSync } from 'node:fs'
import type { Static } from '@sinclair/typebox'
import { expect, expectTypeOf, it } from 'vitest'
import type { Business } from '../../src/businesses/find-business.ts'
import { EventSchema, readEvent } from '../../src/front-door/routes/sdk/read-event.ts'
import { decodeTimelineRow, encodeEvent, toTimelineEvent } from '../../src/outbox/timeline-row.ts'
import { EVENT_FIELD_NAMES } from '../../src/rules/imports/event-fields.ts'
import type { EventInput } from '../../src/sdk/node/types.ts'

const BUSINESS = { id: 'b', country: null, currency: 'USD' } as Business

/** What an import has of its own: whom and which business the events are about, and what takes any key. */
const NOT_IMPORTED = ['identity', 'properties', 'traits', 'businessId', 'visitorId']
/** What describes the contact, not the event. */
const OF_CONTACT = ['identity', 'tags', 'traits', 'businessId']
const names = Object.keys(EventSchema.properties)
const others = (left: readonly string[]) => names.filter((name) => !left.includes(name)).toSorted()

it('the timeline shows every field that is sent', () => {
  const texts = Object.entries(EventSchema.properties).flatMap(([name, { type, maxLength }]) =>
    type === 'string' && name !== 'businessId' ? [[name, name.slice(0, Number(maxLength)).toUpperCase()] as const] : [],
  )
  expect(texts.length).toBeGreaterThanOrEqual(4)
  const sent = { ...Object.fromEntries<string>(texts), type: 'lead', value: 5, properties: { a: 1 } }
  const result = readEvent({ ...sent, identity: { email: 'ada@example.com' } }, BUSINESS, Date.now())
  if (!('fact' in result)) throw new Error(JSON.stringify(result))
  const recorded = {
    eventId: 'e',
    businessId: 'b',
    contactId: 'c',
    receivedAt: 1,
    source: 'live',
    fact: result.fact,
  } as const
  expect(toTimelineEvent(decodeTimelineRow(encodeEvent(recorded)))).toMatchObject(sent)
  expect(others([...OF_CONTACT, 'occurredAt'])).toEqual(Object.keys(sent).toSorted())
})

it('an import takes every field', () => {
  expect(EVENT_FIELD_NAMES.filter((name) => !name.includes('.')).toSorted()).toEqual(others(NOT_IMPORTED))
})

it('the SDK takes every field', () => {
  expectTypeOf<keyof EventInput>().toEqualTypeOf<keyof Static<typeof EventSchema>>()
})

it('docs/events.md names every field', () => {
  const text = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')
  expect(others(NOT_IMPORTED).filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
