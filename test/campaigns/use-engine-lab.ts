/**
 * An engine, and a shop for each test. It is not in engine-lab.ts, because processes without vitest import that file,
 * too.
 */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { NOW, type Pipeline, openPipeline } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { type Engine, type Shop, openEngine, openShop, refuseUpdates, stopClock, submitTo } from './engine-lab.ts'

export interface EngineLab {
  stack: Stack
  pipeline: Pipeline
  engine: Engine
  /** A new business for each test. */
  shop: Shop
}

/**
 * Opens an engine for a test file. Passes it to `handOver` once before all tests, for other things that the file opens,
 * and again before each test, at the instant of the facts. `updates`: the engine applies updates.
 */
export function useEngineLab(
  handOver: (lab: EngineLab) => unknown,
  { updates = false, secretsKey }: { updates?: boolean; secretsKey?: string } = {},
): void {
  let lab: Omit<EngineLab, 'shop'>
  const openNext = async (): Promise<void> => {
    const { stack, pipeline, engine } = lab
    engine.clock.now = NOW
    const { businessId } = await createBusiness(stack.sql)
    handOver({ ...lab, shop: openShop(stack, engine, pipeline, businessId) })
  }
  beforeAll(async () => {
    const stack = await openStack()
    await stopClock(stack.sql, NOW)
    const pipeline = await openPipeline(stack.sql)
    const engine = openEngine(stack, updates ? submitTo(pipeline) : refuseUpdates, secretsKey)
    lab = { stack, pipeline, engine }
    await openNext()
  })
  beforeEach(openNext)
  afterAll(async () => {
    await lab.engine.close()
    await lab.stack.close()
  })
}
