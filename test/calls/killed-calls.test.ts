/** Processes that die, and connections that are cut, at each await of a send call: it is never sent twice. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createCallBacklog } from '../../src/calls/backlog.ts'
import { claimCalls } from '../../src/calls/engine/claim-calls.ts'
import { sendCall } from '../../src/calls/engine/send-call.ts'
import { settleCall } from '../../src/calls/engine/settle-call.ts'
import { recordCall } from '../../src/calls/record-call.ts'
import { readCall } from '../../src/rules/calls/read-call.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import { type EngineLab, useEngineLab } from '../campaigns/use-engine-lab.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type CallLab, callTemplate, drainCalls, dueCalls, openCallLab, readCalls } from './call-lab.ts'

let lab: EngineLab
useEngineLab((opened) => (lab = opened))
let calls: CallLab
/** Messages that the provider has taken. */
const taken: string[] = []
beforeAll(() => {
  calls = openCallLab(lab.stack.sql, lab.engine.clock)
  calls.deps.transports = {
    send: (_, { messageId }) => {
      taken.push(messageId)
      return Promise.resolve({ provider: 'smtp', from: null, outcome: { kind: 'accepted' } })
    },
    closeIdle: () => undefined,
    close: () => undefined,
  }
})
afterAll(() => calls.close())

class Death extends Error {}

/** Connections of a process that dies before its statement number `last`. Its open transaction is rolled back. */
function mortal(sql: Sql, last: number): { sql: Sql; died: Promise<void>; isDead: () => boolean } {
  const { promise: died, resolve } = Promise.withResolvers<void>()
  let statements = 0
  const isOver = (): boolean => {
    statements += 1
    if (statements >= last) resolve()
    return statements >= last
  }
  const tick = (): void => {
    if (isOver()) throw new Death('the process has died')
  }
  const dying = new Proxy(sql, {
    apply(target, self, args) {
      tick()
      return Reflect.apply(target, self, args) as unknown
    },
    get(target, key) {
      if (key !== 'unsafe') return Reflect.get(target, key) as unknown
      return (...args: Parameters<Sql['unsafe']>) => {
        // Instead of a COMMIT that Postgres does not get, it rolls back.
        if (args[0] === 'commit') return isOver() ? target.unsafe('rollback') : target.unsafe(...args)
        if (args[0] !== 'rollback') tick()
        return target.unsafe(...args)
      }
    },
  })
  return { sql: dying, died, isDead: () => statements >= last }
}

const MANY = 200

async function newCall(idempotencyKey: string) {
  const { businessId } = lab.shop
  const template = await callTemplate(lab.engine, businessId)
  const read = readCall({ to: { email: 'ann@x.io' }, template, data: { code: 1 }, idempotencyKey }, null)
  if ('faults' in read) throw new Error(JSON.stringify(read.faults))
  return (sql: Sql) =>
    recordCall(
      {
        sql,
        backlog: createCallBacklog(sql, 1_000_000_000),
        limitAddress: () => Promise.resolve({ allowed: true, giveBack: () => undefined }),
        now: calls.deps.now,
      },
      businessId,
      read.call,
    )
}

/** Everything that is left to do is done by another process, once the claim of the dead one has expired. */
async function finish(): Promise<void> {
  const { clock } = lab.engine
  await vi.waitUntil(
    async () => {
      await drainCalls(calls, clock, clock.now + calls.deps.leaseMs + 1)
      return (await dueCalls(lab.stack.sql, lab.shop.businessId)).length === 0
    },
    { timeout: PATIENCE_MS, interval: 5 },
  )
}

it('a call that dies while it is recorded, and comes again with its key, is one message', async () => {
  let isDone = false
  for (let last = 1; !isDone && last < MANY; last += 1) {
    taken.length = 0
    const record = await newCall(`recorded ${last}`)
    const process = mortal(lab.stack.sql, last)
    await record(process.sql).catch((error: unknown) => expect(error).toBeInstanceOf(Error))
    isDone = !process.isDead()
    const again = await record(lab.stack.sql)
    expect(again).toMatchObject({ kind: 'recorded' })
    await finish()
    expect([last, taken.length]).toEqual([last, 1])
  }
  expect(isDone).toBe(true)
})

it('a sender that dies at any statement leaves a message that is sent once, or unknown', async () => {
  const seen = new Set<string>()
  let isDone = false
  for (let last = 1; !isDone && last < MANY; last += 1) {
    taken.length = 0
    const recorded = await (await newCall(`sent ${last}`))(lab.stack.sql)
    const messageId = recorded.kind === 'recorded' ? recorded.message.messageId : ''
    const process = mortal(lab.stack.sql, last)
    const deps = { ...calls.deps, sql: process.sql }
    const running = (async () => {
      const { sends } = await claimCalls(deps, 64)
      for (const call of sends) await settleCall(deps, call, await sendCall(deps, call, AbortSignal.timeout(20_000)))
    })()
    // A dead process records nothing, however often it would try.
    await Promise.race([
      running.catch(() => undefined),
      process.died.then(() => new Promise((end) => setTimeout(end, 20))),
    ])
    isDone = !process.isDead()
    const handedOver = taken.length
    await finish()
    const all = await readCalls(lab.stack.sql, lab.shop.businessId)
    const state = all.find(({ id }) => id === messageId)?.state
    expect([last, taken.length]).toEqual([last, state === 'sent' ? 1 : handedOver])
    expect(taken.length).toBeLessThanOrEqual(1)
    seen.add(`${state} after ${handedOver}`)
  }
  expect(isDone).toBe(true)
  expect([...seen].toSorted()).toEqual(['sent after 0', 'sent after 1', 'unknown after 0', 'unknown after 1'])
})
