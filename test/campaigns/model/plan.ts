/** Campaigns as the reference model represents them: small, and in its own terms. */

import { DAY } from '../engine-lab.ts'

/** The only tag. */
export const VIP = 'vip'

type Leaf =
  | { type: 'send'; channel: 'email' | 'webhook'; kind: 'marketing' | 'transactional' }
  | { type: 'wait'; ms: number }
  /** Local time. 1 is Monday; null is every day. */
  | { type: 'wait_until'; minute: number; weekdays: number[] | null }
  /** Gives the contact the tag, or removes it. */
  | { type: 'update'; has: boolean }
  | { type: 'exit' }

interface WaitFor<Inner> {
  type: 'wait_for'
  event: string
  ms: number
  steps: Inner[]
  otherwise: Inner[]
}

interface Branch<Inner> {
  type: 'branch'
  /** True when such an event is recorded for the contact, or when it has the tag. */
  on: { event: string } | { tag: typeof VIP }
  steps: Inner[]
  otherwise: Inner[]
}

/** A split of two parts. */
interface Split<Inner> {
  type: 'split'
  /** Share of enrolments that take `steps`. */
  percent: number
  steps: Inner[]
  otherwise: Inner[]
}

/** A step without ids. */
export type Sketch = Leaf | WaitFor<Sketch> | Branch<Sketch> | Split<Sketch>

export type PlanStep = (Leaf | WaitFor<PlanStep> | Branch<PlanStep> | Split<PlanStep>) & { id: string }

/** Minutes of the local day. They are never equal. */
export interface Quiet {
  from: number
  to: number
}

/** Allows at most this number of mails within a time, over all campaigns. */
export interface PlanCap {
  atMost: number
  ms: number
  whenReached: 'wait' | 'skip'
}

export interface Plan {
  trigger: string
  goal: string | null
  canEnterAgain: boolean
  /** `business`: the quiet hours that hold for all campaigns. */
  quiet: Quiet | null | 'business'
  caps: PlanCap[]
  /** Per cent. */
  holdOut: number
  sketch: Sketch[]
}

/** The settings of the business for all campaigns. */
export interface PlanMessaging {
  quiet: Quiet | null
  caps: PlanCap[]
}

/** Minutes from UTC, all year round. */
export const ZONES = { 'Asia/Tokyo': 540, 'Asia/Kathmandu': 345, 'America/Bogota': -300 } as const
export type Zone = keyof typeof ZONES

/** Gives each step an id that is unique in all versions of the campaign. */
export function nameSteps(sketch: readonly Sketch[], version: number): PlanStep[] {
  let count = 0
  const name = (step: Sketch): PlanStep => {
    count += 1
    const id = `v${version}-${count}`
    return 'steps' in step
      ? { ...step, id, steps: step.steps.map(name), otherwise: step.otherwise.map(name) }
      : { ...step, id }
  }
  return sketch.map(name)
}

/** Ids by channel. */
export type Templates = Record<'email' | 'webhook', string>

/** Returns the steps as callers send them. */
export const sentSteps = (steps: readonly PlanStep[], templates: Templates): object[] =>
  steps.map((step) => sentStep(step, templates))

function sentStep(step: PlanStep, templates: Templates): object {
  const { id, type } = step
  switch (step.type) {
    case 'send':
      return { id, type, channel: step.channel, template: templates[step.channel], kind: step.kind }
    case 'wait':
      return { id, type, for: durationOf(step.ms) }
    case 'update':
      return { id, type, [step.has ? 'addTags' : 'removeTags']: [VIP] }
    case 'wait_until':
      return { id, type, time: timeOf(step.minute), ...(step.weekdays && { weekdays: step.weekdays }) }
    case 'wait_for':
      return { id, type, event: step.event, timeout: durationOf(step.ms), ...innerOf(step, templates) }
    case 'branch': {
      const happened = { metric: 'count', operator: 'greater_than_or_equal', value: 1 }
      const rule = 'tag' in step.on ? { ...step.on, operator: 'has' } : { ...step.on, ...happened }
      return { id, type, rule, ...innerOf(step, templates) }
    }
    case 'split': {
      const { percent, steps, otherwise } = step
      const part = (share: number, inner: PlanStep[]) => ({ percent: share, steps: sentSteps(inner, templates) })
      return { id, type, parts: [part(percent, steps), part(100 - percent, otherwise)] }
    }
    case 'exit':
      return { id, type }
  }
}

const innerOf = ({ steps, otherwise }: { steps: PlanStep[]; otherwise: PlanStep[] }, templates: Templates) => ({
  steps: sentSteps(steps, templates),
  otherwise: sentSteps(otherwise, templates),
})

const durationOf = (ms: number): string => `PT${ms / 1000}S`

export const sentQuiet = (quiet: Quiet | null) =>
  quiet === null ? null : { from: timeOf(quiet.from), to: timeOf(quiet.to) }

export const sentCaps = (caps: readonly PlanCap[]) =>
  caps.map(({ atMost, ms, whenReached }) => ({ channel: 'email' as const, atMost, days: ms / DAY, whenReached }))

const timeOf = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
