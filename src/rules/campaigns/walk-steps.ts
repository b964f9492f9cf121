/** Finds and replaces the steps inside steps. */
import { isRecord } from '../is-record.ts'
import { type FieldKind, type FieldValues, type Rows, STEP_TYPES, type Step, type StepType, fieldsOf } from './steps.ts'

type ListKind = {
  [Kind in FieldKind]: FieldValues[Kind] extends readonly (Step | { steps: Step[] })[] ? Kind : never
}[FieldKind]

export type WithoutLists<Row> = {
  [Name in keyof Row as Row[Name] extends { kind: ListKind } ? never : Name]: Row[Name]
}

export type ListStepType = {
  [Type in StepType]: keyof Rows[Type]['fields'] extends keyof WithoutLists<Rows[Type]['fields']> ? never : Type
}[StepType]

interface SentList {
  path: string
  steps: unknown
}
type MapSteps = (steps: readonly Step[]) => Step[]

interface ListField<Value> {
  /** The lists in a field that was sent, which may be anything. */
  read: (field: string, value: unknown) => SentList[]
  map: (value: Value, map: MapSteps) => Value
}
const LISTS: { [Kind in ListKind]: ListField<FieldValues[Kind]> } = {
  steps: {
    read: (field, value) => [{ path: field, steps: value }],
    map: (steps, map) => map(steps),
  },
  parts: {
    read: (field, value) =>
      (Array.isArray(value) ? value : []).map((part: unknown, index) => ({
        path: `${field}[${index}].steps`,
        steps: isRecord(part) ? part['steps'] : undefined,
      })),
    map: (parts, map) => parts.map((part) => ({ ...part, steps: map(part.steps) })),
  },
}
export const isListKind = (kind: FieldKind): kind is ListKind => kind in LISTS

/** The lists of steps inside a value that may be a step, each with its path from the step. */
export function sentListsIn(sent: unknown): SentList[] {
  const type = isRecord(sent) ? STEP_TYPES.find((type) => type === sent['type']) : undefined
  if (type === undefined || !isRecord(sent)) return []
  return fieldsOf(type).flatMap(([name, { kind }]) => (isListKind(kind) ? LISTS[kind].read(name, sent[name]) : []))
}

/** The lists of steps inside a step, each with its path from the step. */
export const listsIn = (step: Step) => sentListsIn(step) as { path: string; steps: Step[] }[]

/** Returns the step with other lists of steps inside it. */
export function mapLists(step: Step, map: MapSteps): Step {
  const values: Record<string, unknown> = { ...step }
  for (const [name, { kind }] of fieldsOf(step.type))
    if (isListKind(kind)) values[name] = mapField(kind, values[name], map)
  return values as Step
}

const mapField = <Kind extends ListKind>(kind: Kind, value: unknown, map: MapSteps) =>
  LISTS[kind].map(value as FieldValues[Kind], map)

/** All steps with their paths, such as `steps[0].otherwise[1]`, from top to bottom. */
export function walkSteps(steps: readonly Step[], path = 'steps'): { step: Step; path: string }[] {
  return steps.flatMap((step, index) => {
    const at = `${path}[${index}]`
    return [{ step, path: at }, ...listsIn(step).flatMap((list) => walkSteps(list.steps, `${at}.${list.path}`))]
  })
}

/** The values of all fields of a kind, from top to bottom, such as the events that steps wait for. */
export const valuesIn = <Kind extends FieldKind>(steps: readonly Step[], kind: Kind): FieldValues[Kind][] =>
  walkSteps(steps).flatMap(({ step }) => valuesOf(step, kind))

/** Those of one step. */
export function valuesOf<Kind extends FieldKind>(step: Step, kind: Kind): FieldValues[Kind][] {
  const values: Record<string, unknown> = step
  const named = fieldsOf(step.type).filter(([name, field]) => field.kind === kind && values[name] !== undefined)
  return named.map(([name]) => values[name] as FieldValues[Kind])
}
