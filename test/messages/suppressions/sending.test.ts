/** The use of suppressions by senders and by providers' callbacks. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type MessageKey, loadMessageKey } from '../../../src/messages/message-key.ts'
import { findSuppressed } from '../../../src/messages/suppressions/find-suppressed.ts'
import { liftStop } from '../../../src/messages/suppressions/lift.ts'
import { type NewSuppression, suppress } from '../../../src/messages/suppressions/suppress.ts'
import { SUPPRESSION_REASONS } from '../../../src/rules/messages/suppression.ts'
import { businessId, stack, useFreshBusiness } from '../../support/fresh-business.ts'
import { createBusiness } from '../../support/stack.ts'

useFreshBusiness()

let key: MessageKey
beforeEach(async () => {
  key = await loadMessageKey(stack.sql)
})

const PHONE = { channel: 'sms', address: '972541234567' } as const
const add = (...items: NewSuppression[]) =>
  stack.sql.begin((tx) => suppress(tx, key, { businessId, now: Date.now() }, items))
const isSuppressed = async (address: { channel: 'email' | 'sms' | 'whatsapp'; address: string }) =>
  (await findSuppressed(stack.sql, key, [{ businessId, ...address }]))[0]

describe('many addresses', () => {
  it('are looked up by one statement, in their order, each by its business and channel', async () => {
    const other = (await createBusiness(stack.sql)).businessId
    await add({ ...PHONE, reason: 'stop' }, { channel: 'email', address: 'a@x.io', reason: 'complaint' })
    const asked = [
      { businessId, channel: 'email', address: 'b@x.io' },
      { businessId, channel: 'email', address: 'a@x.io' },
      { businessId: other, channel: 'email', address: 'a@x.io' },
      { businessId, channel: 'whatsapp', address: PHONE.address },
      { businessId, ...PHONE },
      { businessId, channel: 'email', address: 'a@x.io' },
      { businessId, channel: 'email', address: '{"odd",\\}@x.io' },
    ] as const
    const expected = [false, true, false, false, true, true, false]
    expect(await findSuppressed(stack.sql, key, asked)).toEqual(expected)
    expect(await findSuppressed(stack.sql, key, [])).toEqual([])
    expect(await stack.sql.begin((tx) => findSuppressed(tx, key, asked))).toEqual(expected)
  })

  it('are seen by a statement that begins after the answer, within an open transaction too', async () => {
    await stack.sql.begin(async (tx) => {
      expect(await findSuppressed(tx, key, [{ businessId, ...PHONE }])).toEqual([false])
      await add({ ...PHONE, reason: 'stop' })
      expect(await findSuppressed(tx, key, [{ businessId, ...PHONE }])).toEqual([true])
    })
  })

  it('are found by their hashes, also by a plan that was made while the table was empty', async () => {
    const plan = await stack.sql.begin(async (tx) => {
      await tx`set local enable_seqscan = off`
      return tx<{ 'QUERY PLAN': string }[]>`
        explain select from unnest(array[${businessId}]::text[], array['aa']) as asked (business_id, hash)
        where exists (select from suppressions s
          where s.address_hash = decode(asked.hash, 'hex') and s.business_id::text = asked.business_id)`
    })
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain('suppressions_by_address')
  })
})

describe('START', () => {
  it.each(SUPPRESSION_REASONS)('lifts a suppression if it is a STOP: %s', async (reason) => {
    await add({ ...PHONE, reason })
    const isLifted = await stack.sql.begin((tx) => liftStop(tx, key, { businessId, ...PHONE }))
    expect(isLifted).toBe(reason === 'stop')
    expect(await isSuppressed(PHONE)).toBe(reason !== 'stop')
  })

  it('leaves the other reasons, channels and addresses', async () => {
    await add(
      { ...PHONE, reason: 'stop' },
      { ...PHONE, reason: 'complaint' },
      { ...PHONE, channel: 'whatsapp', reason: 'stop' },
      { ...PHONE, address: '972541234568', reason: 'stop' },
    )
    await stack.sql.begin((tx) => liftStop(tx, key, { businessId, ...PHONE }))
    const left = await stack.sql<{ channel: string; reason: string }[]>`
      select channel, reason from suppressions where business_id = ${businessId} order by id`
    expect(left.map(({ channel, reason }) => `${channel} ${reason}`)).toEqual([
      'sms complaint',
      'whatsapp stop',
      'sms stop',
    ])
    const [count] = await stack.sql`select many from suppression_counts where business_id = ${businessId}`
    expect(count).toEqual({ many: 3 })
  })
})

describe('what a provider reports', () => {
  it('is kept beyond the limit', async () => {
    await add({ ...PHONE, reason: 'stop' })
    await stack.sql`update suppression_counts set many = 5000000 where business_id = ${businessId}`
    expect(await add({ channel: 'email', address: 'a@x.io', reason: 'hard_bounce' })).toEqual(['added'])
  })

  it('is not kept when its transaction is undone', async () => {
    const undone = stack.sql.begin(async (tx) => {
      await suppress(tx, key, { businessId, now: 1 }, [{ ...PHONE, reason: 'stop' }])
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await isSuppressed(PHONE)).toBe(false)
  })
})
