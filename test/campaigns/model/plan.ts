/** Campaigns as the reference model knows them: small, and in words of their own. */

type Leaf = { type: 'send'; kind: 'marketing' | 'transactional' } | { type: 'wait'; ms: number } | { type: 'exit' }

interface WaitFor<Inner> {
  type: 'wait_for'
  event: string
  ms: number
  steps: Inner[]
  otherwise: Inner[]
}

interface Branch<Inner> {
  type: 'branch'
  /** Whether such an event is known of the contact. */
  event: string
  steps: Inner[]
  otherwise: Inner[]
}

/** A step without ids. */
export type Sketch = Leaf | WaitFor<Sketch> | Branch<Sketch>

export type PlanStep = (Leaf | WaitFor<PlanStep> | Branch<PlanStep>) & { id: string }

/** Minutes of the day in UTC, never equal. */
export interface Quiet {
  from: number
  to: number
}

export interface Plan {
  trigger: string
  goal: string | null
  canEnterAgain: boolean
  quiet: Quiet | null
  sketch: Sketch[]
}

/** Gives each step an id, unique in all versions of the campaign. */
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

/** As callers send them. */
export const sentSteps = (steps: readonly PlanStep[], template: string): object[] =>
  steps.map((step) => sentStep(step, template))

function sentStep(step: PlanStep, template: string): object {
  const { id, type } = step
  switch (step.type) {
    case 'send':
      return { id, type, channel: 'email', template, kind: step.kind }
    case 'wait':
      return { id, type, for: durationOf(step.ms) }
    case 'wait_for':
      return { id, type, event: step.event, timeout: durationOf(step.ms), ...innerOf(step, template) }
    case 'branch': {
      const rule = { event: step.event, metric: 'count', operator: 'greater_than_or_equal', value: 1 }
      return { id, type, rule, ...innerOf(step, template) }
    }
    case 'exit':
      return { id, type }
  }
}

const innerOf = ({ steps, otherwise }: { steps: PlanStep[]; otherwise: PlanStep[] }, template: string) => ({
  steps: sentSteps(steps, template),
  otherwise: sentSteps(otherwise, template),
})

const durationOf = (ms: number): string => `PT${ms / 1000}S`

export const sentQuiet = (quiet: Quiet | null): object | null =>
  quiet === null ? null : { from: timeOf(quiet.from), to: timeOf(quiet.to) }

const timeOf = (minutes: number): string =>
  [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
