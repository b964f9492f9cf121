/** The events of a traffic as the product reads them. */
import type { Business } from '../../../src/businesses/find-business.ts'
import { readEvent } from '../../../src/front-door/routes/sdk/read-event.ts'
import type { EventFact } from '../../../src/rules/events/facts.ts'
import { type Traffic, eventsIn, makeBody } from '../generator/traffic.ts'

export const BUSINESS: Business = {
  id: '0198c5a0-0000-7000-8000-000000000001',
  name: 'Ceiling',
  active: true,
  removed: false,
  rateLimit: 1_000_000,
  currency: 'EUR',
  country: null,
  timezone: 'UTC',
  origins: [],
  bots: 'ignore',
  webTriggers: [],
}
export const RECEIVED_AT = Date.UTC(2026, 0, 1)

/** Returns the events of each of these requests. */
export function readFacts(traffic: Traffic, first: number, requests: number): EventFact[][] {
  return Array.from({ length: requests }, (_, at) => {
    const body: unknown = JSON.parse(makeBody(traffic, first + at))
    return eventsOf(body).map((event) => {
      const read = readEvent(event, BUSINESS, RECEIVED_AT)
      if ('code' in read) throw new Error(`The traffic makes an event that is refused: ${read.code}`)
      return read.fact
    })
  })
}

const eventsOf = (body: unknown): unknown[] =>
  typeof body === 'object' && body !== null && 'events' in body ? (body.events as unknown[]) : [body]

export const requestsFor = (traffic: Traffic, events: number): number => Math.ceil(events / eventsIn(traffic))
