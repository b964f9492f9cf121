/** One life: the product, the reference model, and what workers have in flight in both. */
import { expect } from 'vitest'
import type { ClaimedUpdate } from '../../../src/campaigns/engine/apply-update.ts'
import type { ClaimedSend } from '../../../src/campaigns/engine/claim/claim-due.ts'
import type { Pipeline } from '../../support/facts.ts'
import type { Stack } from '../../support/stack.ts'
import type { Engine, Shop } from '../engine-lab.ts'
import { expectedOf, lookAt } from './look.ts'
import type { Templates } from './plan.ts'
import type { Hand, Person, Updating } from './records.ts'
import type { Reference } from './reference.ts'

export interface World {
  stack: Stack
  pipeline: Pipeline
  engines: [Engine, Engine]
}

/** What a worker has in flight, in the product and in the model. */
export interface InFlight {
  claimed: ClaimedSend
  hand: Hand
}

export interface UpdateInFlight {
  claimed: ClaimedUpdate
  updating: Updating
}

/** One life. */
export interface Course extends World {
  shop: Shop
  templates: Templates
  campaignIds: string[]
  /** Contacts that exist. */
  contactIds: Map<Person, string>
  /** Includes erased contacts. */
  people: Map<string, number>
  model: Reference
  inFlight: InFlight[]
  updates: UpdateInFlight[]
}

export function moveClock({ engines }: Pick<World, 'engines'>, now: number): void {
  for (const { clock } of engines) clock.now = now
}

export async function expectSame(course: Course, when: string): Promise<void> {
  const { enrolments, messages } = await look(course)
  expect({ enrolments, messages }, `${when}, at ${course.model.now}`).toEqual(expectedOf(course.model))
}

export const look = ({ stack, shop, people, campaignIds }: Course) =>
  lookAt(stack.sql, shop.businessId, { people, campaigns: campaignIds })
