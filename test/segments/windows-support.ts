/**
 * Windowed conditions on real engines: events through the pipeline, an outbox that the test ships, and the worker's
 * rounds at instants that the test sets.
 */
import { pino } from 'pino'
import type { SegmentDeps, WindowDeps } from '../../src/segments/segment-deps.ts'
import { buildMembers } from '../../src/segments/build-members.ts'
import { logSwitched } from '../../src/segments/log-switched.ts'
import { removeRetired } from '../../src/segments/remove-retired.ts'
import { settleDue } from '../../src/segments/settle-due.ts'
import { buildWindowed } from '../../src/segments/windows/build-windowed.ts'
import { createPostponed } from '../../src/segments/windows/postponed.ts'
import { settleWindows } from '../../src/segments/windows/settle-windows.ts'
import { type Lease, takeLease } from '../../src/timeline/lease.ts'
import { shipOutbox } from '../../src/timeline/shipping/ship-outbox.ts'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, openStack } from '../support/stack.ts'

export interface World {
  stack: Stack
  pipeline: Pipeline
  deps: WindowDeps
  /** The worker's clock, in epoch ms. */
  clock: number
  /** Ships the outbox. */
  ship(): Promise<void>
  /** Runs the worker's rounds until nothing is due at this instant: first windows, then other changes by time. */
  settle(at?: number): Promise<void>
  /** Ships the outbox, and then settles. */
  follow(at?: number): Promise<void>
  /** The worker's rounds while ClickHouse is away: what is due by time goes on without the windows. */
  goOn(at?: number): Promise<void>
  /** Builds the rules that are being built, and removes retired ones. */
  build(): Promise<void>
  close(): Promise<void>
}

export async function openWorld(): Promise<World> {
  const stack = await openStack()
  const pipeline = await openPipeline(stack.sql)
  const { sql, clickhouse } = stack
  const log = pino({ level: 'silent' })
  const lease: Lease = await takeLease({ sql, log }, 600_000)
  const { signal } = new AbortController()
  const shared: Omit<SegmentDeps, 'now'> = { sql, log, config: { leaseMs: 3000 }, configs: new Map() }
  const round = { awaited: new Map<string, number>(), postponed: createPostponed() }
  const world: World = {
    stack,
    pipeline,
    deps: { ...shared, clickhouse, now: () => world.clock },
    clock: NOW,
    async ship() {
      while (await shipOutbox({ sql, clickhouse, log }, lease)) continue
    },
    async settle(at = world.clock) {
      world.clock = at
      while ((await settleWindows(world.deps, createPostponed(), signal)) === 'more') continue
      while ((await settleDue(world.deps, true)) === 'more') continue
    },
    async follow(at = world.clock) {
      await world.ship()
      await world.settle(at)
    },
    async goOn(at = world.clock) {
      world.clock = at
      while ((await settleDue(world.deps)) === 'more') continue
    },
    async build() {
      for (let isBusy = true; isBusy;) {
        isBusy = [
          await logSwitched(world.deps),
          await buildMembers(world.deps, signal),
          await buildWindowed(world.deps, round, signal),
          await removeRetired(world.deps),
          await removeRetired(world.deps, true),
        ].includes(true)
      }
    },
    async close() {
      await lease.release()
      await stack.close()
    },
  }
  return world
}
