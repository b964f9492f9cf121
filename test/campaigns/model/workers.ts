/** The actions of workers, including one that dies and two that run at once. */
import { expect } from 'vitest'
import { againBetween, retryBetween } from './times.ts'
import { applyUpdate } from '../../../src/campaigns/engine/apply-update.ts'
import { claimDue } from '../../../src/campaigns/engine/claim/claim-due.ts'
import { sendMessage } from '../../../src/campaigns/engine/send/send-message.ts'
import type { Attempt } from '../../../src/campaigns/engine/send/attempt.ts'
import { settle } from '../../../src/campaigns/engine/settle/settle.ts'
import { type Course, look } from './course.ts'
import type { Deed } from './life.ts'
import { namesOf } from './look.ts'
import type { PlanStep } from './plan.ts'
import type { Outcome, Updating } from './records.ts'

export async function labour(course: Course, deed: Deed): Promise<void> {
  switch (deed.kind) {
    case 'claim':
      return await claim(course)
    case 'settle':
      return await settleOne(course, deed)
    case 'apply':
      return await apply(course, deed)
    case 'die':
      take(course.inFlight, deed.which)
      take(course.updates, deed.which)
      return
    case 'work':
      return await work(course, deed.engines)
  }
}

async function claim(course: Course): Promise<void> {
  const { engines, model, inFlight, updates } = course
  const { sends, updates: claimedUpdates } = await claimDue(engines[0].deps, 64)
  const { hands, updates: updating } = model.claim()
  const { names, dueAt } = await look(course)
  const expected = namesOf(model)
  const nameOf = (one: { enrolmentId: string; step: { id: string } }) => `${names.get(one.enrolmentId)} ${one.step.id}`
  for (const [claimed, hand] of pair(
    sends,
    nameOf,
    hands,
    (one) => `${expected.get(one.enrolment)} ${one.message.step}`,
  ))
    inFlight.push({ claimed, hand })
  const ofUpdate = (one: Updating) => `${expected.get(one.enrolment)} ${one.step.id}`
  for (const [claimed, one] of pair(claimedUpdates, nameOf, updating, ofUpdate)) {
    const { from, to } = againBetween(one, model.now)
    const again = dueAt.get(claimed.enrolmentId)!
    expect(again >= from && again <= to, `another entry at ${again}`).toBe(true)
    one.row.nextAt = again
    updates.push({ claimed, updating: one })
  }
}

/** Pairs the items of the product with those of the model. Both must have the same ones. */
function pair<Theirs, Ours>(
  theirs: Theirs[],
  nameOf: (one: Theirs) => string,
  ours: Ours[],
  expectedOf: (one: Ours) => string,
): [Theirs, Ours][] {
  const found = new Map(theirs.map((one) => [nameOf(one), one]))
  const wanted = new Map(ours.map((one) => [expectedOf(one), one]))
  expect([...found.keys()].toSorted()).toEqual([...wanted.keys()].toSorted())
  return [...wanted].map(([name, one]) => [found.get(name)!, one])
}

const take = <One>(inFlight: One[], which: number): One | undefined =>
  inFlight.splice(which % Math.max(1, inFlight.length), 1)[0]

async function apply(
  { engines: [{ deps }], model, updates }: Course,
  { which, isTwice }: Extract<Deed, { kind: 'apply' }>,
): Promise<void> {
  const one = take(updates, which)
  if (one === undefined) return
  for (let time = 0; time < (isTwice ? 2 : 1); time += 1) await applyUpdate(deps, one.claimed)
  model.apply(one.updating)
}

type SettledAs = Extract<Deed, { kind: 'settle' }>['outcome']

async function settleOne(
  { engines: [{ deps }], model, inFlight }: Course,
  { which, outcome, isTwice }: Extract<Deed, { kind: 'settle' }>,
): Promise<void> {
  const one = take(inFlight, which)
  if (one === undefined) return
  const { claimed, hand } = one
  const attempt: Attempt =
    outcome === 'accepted'
      ? await sendMessage(deps, claimed, AbortSignal.timeout(20_000))
      : { outcome: outcomeOf(outcome), provider: null, from: null, rendered: null }
  const settled = await settle(deps, claimed, attempt)
  const retryAt = settled.state === 'retry' ? settled.at : null
  if (outcome === 'temporary') {
    const { from, to, giveUpAt } = retryBetween(hand, model.now)
    if (retryAt === null) expect(to).toBeGreaterThanOrEqual(giveUpAt)
    else expect(retryAt >= from && retryAt <= to && retryAt < giveUpAt, `a retry at ${retryAt}`).toBe(true)
  }
  const reported: Outcome = outcome === 'temporary' ? { kind: outcome, at: retryAt } : { kind: outcome }
  model.settle(hand, reported)
  // The worker repeats the call, and does not get another instant.
  if (isTwice && retryAt === null) await settle(deps, claimed, attempt)
}

const outcomeOf = (said: Exclude<SettledAs, 'accepted'>): Attempt['outcome'] =>
  said === 'bounced' ? { kind: 'refused', blame: 'hard_bounce' } : { kind: said }

export async function work({ engines, model }: Course, many: 1 | 2): Promise<void> {
  // With two engines, the order of updates is undefined, and so is the message that exceeds a cap.
  const isFree =
    model.messaging.caps.length === 0 &&
    !model.campaigns.some(({ versions }) => versions.some(({ steps, caps }) => caps.length > 0 || hasUpdate(steps)))
  const working = engines.slice(0, isFree ? many : 1)
  await Promise.all(working.map((engine) => engine.drain()))
  // Rows that both engines had locked, so that neither processed them.
  await engines[0].drain()
  for (;;) {
    const { moved, hands, updates } = model.claim()
    if (moved === 0) return
    for (const hand of hands) model.settle(hand, { kind: 'accepted' })
    for (const one of updates) model.apply(one)
  }
}

const hasUpdate = (steps: PlanStep[]): boolean =>
  steps.some((step) => step.type === 'update' || ('steps' in step && hasUpdate([...step.steps, ...step.otherwise])))
