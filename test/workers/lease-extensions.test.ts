/** How much longer a lease lasts while its partition has batches that keep the thread busy. */
import { expect, it } from 'vitest'
import { MAX_LEASE_MS } from '../../src/config.ts'
import { createLeaseExtensions } from '../../src/stream/leases/lease-extensions.ts'

const LEASE_MS = 3000

it('makes up for twice the longest time that the thread was busy, for each partition, and is 30 seconds at most', () => {
  const extensions = createLeaseExtensions(LEASE_MS)
  expect(extensions.of('backfill-0')).toBe(0)
  extensions.noteBusy(['backfill-0', 'web-0'], 4000)
  extensions.noteBusy(['backfill-0'], 2000)
  expect(extensions.of('backfill-0')).toBe(6500)
  extensions.noteBusy(['web-0'], 15_751)
  expect(extensions.of('web-0')).toBe(30_000)
  expect(extensions.of('web-1')).toBe(0)
})

it('never makes a lease longer than one that counts as held', () => {
  for (const [leaseMs, most] of [
    [MAX_LEASE_MS, 0],
    [MAX_LEASE_MS - 1, 1],
  ] as const) {
    const extensions = createLeaseExtensions(leaseMs)
    extensions.noteBusy(['backfill-0'], 10 * MAX_LEASE_MS)
    expect(extensions.of('backfill-0')).toBe(most)
  }
})

it('begins when the thread was busy for half a lease', () => {
  const extensions = createLeaseExtensions(LEASE_MS)
  extensions.noteBusy(['backfill-0'], 1499)
  expect(extensions.of('backfill-0')).toBe(0)
  extensions.noteBusy(['backfill-0'], 1500)
  expect(extensions.of('backfill-0')).toBe(1500)
})

it('ends when a batch of the partition is applied, and after a minute', () => {
  let now = 0
  const extensions = createLeaseExtensions(LEASE_MS, () => now)
  extensions.noteBusy(['backfill-0', 'backfill-1'], 2000)
  extensions.noteApplied('backfill-0')
  expect(extensions.of('backfill-0')).toBe(0)
  now = 59_999
  expect(extensions.of('backfill-1')).toBe(2500)
  now = 60_000
  expect(extensions.of('backfill-1')).toBe(0)
})
