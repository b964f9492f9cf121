/** The messages of a claim share a read of their channel. */
import { beforeEach, expect, it } from 'vitest'
import type { OutgoingMessage } from '../../src/messages/channels/provider.ts'
import { type Transports, createTransports } from '../../src/campaigns/engine/send/transports.ts'
import type { Stack } from '../support/stack.ts'
import { type Engine, type Shop, useChannel } from './engine-lab.ts'
import { useEngineLab } from './use-engine-lab.ts'

let stack: Stack
let engine: Engine
let shop: Shop
useEngineLab((lab) => ({ stack, engine, shop } = lab))

let reads: number
let failures: number
let transports: Transports
beforeEach(() => {
  reads = 0
  failures = 0
  const sql = new Proxy(stack.sql, {
    apply(target, self, args: unknown[]): unknown {
      if (!String(args[0]).includes('from senders')) return Reflect.apply(target, self, args)
      reads += 1
      if (failures === 0) return Reflect.apply(target, self, args)
      failures -= 1
      return Promise.reject(new Error('the connection was lost'))
    },
  })
  transports = createTransports({ ...engine.deps, sql })
  return () => transports.close()
})

/** Sends messages of one claim. */
const sendAll = (many: number, since: number) =>
  Promise.all(
    Array.from({ length: many }, async () => {
      const message: OutgoingMessage = {
        businessId: shop.businessId,
        channel: 'email',
        messageId: crypto.randomUUID(),
        contactId: crypto.randomUUID(),
        to: 'ann@x.io',
        headers: {},
        message: { language: 'en', subject: 'Hello', html: '<p>Hello</p>', text: 'Hello' },
      }
      const key = { businessId: shop.businessId, channel: 'email' as const, sender: 'default', since }
      return (await transports.send(key, message, AbortSignal.timeout(20_000))).provider
    }),
  )

it('which is made after the claim, so the next claim sees what has changed', async () => {
  const first = performance.now()
  expect(new Set(await sendAll(10, first))).toEqual(new Set(['log']))
  expect(reads).toBe(1)
  const settings = { provider: 'smtp', host: '127.0.0.1', port: 9, sender: 'Shop <hello@shop.example>' }
  await useChannel(stack.sql, { businessId: shop.businessId, channel: 'email' }, settings)
  expect(new Set(await sendAll(10, performance.now()))).toEqual(new Set(['smtp']))
  expect(reads).toBe(2)
  // Those of an older claim follow, and do not go back.
  expect(new Set(await sendAll(1, first))).toEqual(new Set(['smtp']))
  expect(reads).toBe(2)
})

it('and read by themselves when it fails', async () => {
  failures = 1
  expect(await sendAll(20, performance.now())).toEqual(Array.from({ length: 20 }, () => 'log'))
})
