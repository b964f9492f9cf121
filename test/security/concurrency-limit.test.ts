// @serial
/** Many simultaneous calls of one business, against the few calls of another. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RequestError } from '../../src/errors.ts'
import { createConcurrencyLimit } from '../../src/front-door/access/concurrency-limit.ts'
import { type Speak, speakTo } from '../front-door/http-client.ts'
import { partitionOf } from '../../src/stream/partitions/partition-of.ts'
import { openService, type Service } from '../support/service.ts'
import { createBusiness, type TestBusiness } from '../support/stack.ts'

const CROWD = 300
/** Tests have two partitions of each kind. */
const partitionIn = ({ businessId }: TestBusiness): string => partitionOf('live', businessId, 2)

describe('a crowd of one business', () => {
  let service: Service
  let speak: Speak
  beforeAll(async () => {
    service = await openService()
    speak = speakTo(service.url)
  })
  afterAll(() => service.close())

  it('that reads slowly does not delay the reads of another', async () => {
    const [large, small] = [await createBusiness(service.sql), await createBusiness(service.sql)]
    // Many have the tag and many have the stage, but none has both: no index finds that quickly.
    await service.sql`
      insert into contacts (business_id, id, created_at, keyed, stage, tags)
      select ${large.businessId}, gen_random_uuid(), n, true, n % 2, case n % 2 when 0 then array['a'] else '{}' end
      from generate_series(1, 200000) n`
    let answered = 0
    const crowd = Array.from({ length: CROWD }, async () => {
      const { status } = await speak('GET', '/api/contacts?tag=a&stage=Consideration', { key: large.secretKey })
      // Calls that are refused because they waited too long take no time in the database.
      if (status === 200) answered += 1
      return status
    })
    // The first requests of the crowd have their connections by now.
    await crowd[0]
    const { status } = await speak('GET', '/api/contacts?email=a@example.com', { key: small.secretKey })
    expect(status).toBe(200)
    expect(answered).toBeLessThan(CROWD / 2)
    expect((await Promise.all(crowd)).filter((status) => status !== 200 && status !== 503)).toEqual([])
  })

  it('that edits does not delay the events of another', async () => {
    const large = await createBusiness(service.sql)
    const partition = partitionIn(large)
    let small = await createBusiness(service.sql)
    while (partitionIn(small) !== partition) small = await createBusiness(service.sql)
    const event = { event: 'e', identity: { email: 'a@example.com' } }
    const { body } = await speak('POST', '/api/sdk/track', { key: large.secretKey, json: event })
    let answered = 0
    const crowd = Array.from({ length: CROWD }, async (_, n) => {
      const json = { addTags: [`t${n}`] }
      const path = `/api/contacts/${String(body.data['contactId'])}`
      const { status } = await speak('PATCH', path, { key: large.secretKey, json })
      answered += 1
      return status
    })
    await crowd[0]
    for (let n = 0; n < 3; n++)
      expect((await speak('POST', '/api/sdk/track', { key: small.secretKey, json: event })).status).toBe(200)
    expect(answered).toBeLessThan(CROWD / 2)
    expect((await Promise.all(crowd)).filter((status) => status !== 200 && status !== 503)).toEqual([])
  })
})

describe('calls of a business', () => {
  it('take turns in their order, two at a time, each business by itself', async () => {
    const acquireSlot = createConcurrencyLimit(2)
    const begun: number[] = []
    const ends: (() => void)[] = []
    const take = async (n: number, business = 'a') => {
      const end = await acquireSlot(business)
      begun.push(n)
      ends.push(end)
    }
    const some = [1, 2, 3, 4].map((n) => take(n))
    await Promise.all(some.slice(0, 2))
    await take(5, 'b')
    expect(begun).toEqual([1, 2, 5])
    ends[0]?.()
    await some[2]
    ends[1]?.()
    await some[3]
    expect(begun).toEqual([1, 2, 5, 3, 4])
    for (const end of ends.slice(2)) end()
    await Promise.all([take(6), take(7)])
    expect(begun.slice(5)).toEqual([6, 7])
  })

  it('are refused when their turn does not come, and leave it to others', async () => {
    const acquireSlot = createConcurrencyLimit(2, { timeoutMs: 50 })
    const ends = await Promise.all([acquireSlot('a'), acquireSlot('a')])
    await expect(acquireSlot('a')).rejects.toMatchObject({ code: 'unavailable' })
    await expect(acquireSlot('a')).rejects.toBeInstanceOf(RequestError)
    for (const end of ends) end()
    await expect(Promise.all([acquireSlot('a'), acquireSlot('a')])).resolves.toHaveLength(2)
  })

  it.each(['unavailable', 'rate_limited'] as const)(
    'are refused with the code of their limit: %s',
    async (lateCode) => {
      const acquireSlot = createConcurrencyLimit(1, { timeoutMs: 50, maxWaiting: 2, lateCode })
      const end = await acquireSlot('a')
      await expect(acquireSlot('a')).rejects.toMatchObject({ code: lateCode })
      end()
    },
  )

  it('are refused at once when enough wait, and a caller who has gone makes room', async () => {
    const acquireSlot = createConcurrencyLimit(1, { maxWaiting: 2 })
    const end = await acquireSlot('a')
    const gone = new AbortController()
    const left = acquireSlot('a', gone.signal)
    const next = acquireSlot('a')
    await expect(acquireSlot('a')).rejects.toMatchObject({ code: 'rate_limited' })
    gone.abort()
    await expect(left).rejects.toMatchObject({ code: 'unavailable' })
    const last = acquireSlot('a')
    end()
    ;(await next)()
    ;(await last)()
    await expect(acquireSlot('a', AbortSignal.abort())).resolves.toBeTypeOf('function')
  })
})
