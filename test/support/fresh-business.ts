/** The stores of a test file, and a separate business for each test. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { type Pipeline, openPipeline } from './facts.ts'
import { type Stack, createBusiness, openStack } from './stack.ts'

export let stack: Stack
export let pipeline: Pipeline
export let businessId: string

/** Call this at the top of the file. The exports are set only inside tests. */
export function useFreshBusiness(): void {
  beforeAll(async () => {
    stack = await openStack()
    pipeline = await openPipeline(stack.sql)
  })
  afterAll(() => stack.close())
  beforeEach(takeBusiness)
}

/** Creates another business in the middle of a test. */
export async function takeBusiness(): Promise<void> {
  ;({ businessId } = await createBusiness(stack.sql))
}
