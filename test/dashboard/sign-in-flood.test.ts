/** A flood of sign-ins from many networks, beside live events. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'

const FLOOD = 400
const EVENTS = 40

let service: Service
let business: TestBusiness
beforeAll(async () => {
  service = await openService({ TRUST_PROXY: 'true' })
  business = await createBusiness(service.sql)
})
afterAll(() => service.close())

async function guess(n: number): Promise<number> {
  const response = await fetch(`${service.url}/dashboard/api/session`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      'X-Forwarded-For': `198.51.${n % 200}.${Math.floor(n / 200)}`,
    },
    body: JSON.stringify({ email: `guess${n}@x.io`, password: 'correct horse battery' }),
  })
  await response.arrayBuffer()
  return response.status
}

async function track(n: number): Promise<number> {
  const response = await fetch(`${service.url}/api/sdk/track`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ event: 'visited', identity: { email: `person${n}@x.io` } }),
  })
  await response.arrayBuffer()
  return response.status
}

it('is refused for the most part at once, and every event is recorded meanwhile', async () => {
  let refused = 0
  const flood = Array.from({ length: FLOOD }, async (_, n) => {
    const status = await guess(n)
    if (status === 503) refused += 1
    return status
  })
  const recorded: number[] = []
  for (let n = 0; n < EVENTS; n += 1) recorded.push(await track(n))
  expect(recorded).toEqual(Array.from({ length: EVENTS }, () => 200))
  const statuses = await Promise.all(flood)
  expect([...new Set(statuses)].toSorted((one, other) => one - other)).toEqual([401, 503])
  // Only a few wait: the others cost no hash.
  expect(refused).toBeGreaterThan(FLOOD / 2)
})
