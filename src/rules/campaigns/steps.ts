/**
 * The types of steps, one row each, in the order of the contract, and the steps of a campaign as they are stored. From
 * the rows come the type `Step`, the reader with its faults (`read-steps.ts`), the OpenAPI schema (`step-schema.ts`),
 * and the new steps of the dashboard. docs/development.md says what else a new type needs.
 */
import type { TraitValue } from '../events/facts.ts'
import type { MessageChannel } from '../messages/message-channel.ts'
import type { PropertyCondition, Rule } from '../segments/rule.ts'

/** A field of a step. */
export interface StepField {
  kind: FieldKind
  /** Callers may omit the field then. Answers always contain it. */
  default?: unknown
  /** Callers and answers may omit it. */
  isOptional?: true
  /** In the OpenAPI document. */
  description?: string
  /** In a new step of the dashboard. It may need the person to say more. */
  initial?: unknown
}

interface StepRow {
  /** Enrolments wait here. `explain` shows the step with its fields. */
  isWait?: true
  fields: Readonly<Record<string, StepField>>
}

const inner = (when: string) => ({ kind: 'steps', default: [], description: `The steps ${when}.` }) as const
const half = { percent: 50, steps: [] }
const tags = { kind: 'tags', default: [] } as const

export const STEPS = {
  send: {
    fields: {
      channel: { kind: 'channel', initial: 'email' },
      template: { kind: 'template', initial: '' },
      kind: { kind: 'messageKind', default: 'marketing' },
      sender: { kind: 'sender', isOptional: true },
      topic: { kind: 'topic', isOptional: true },
    },
  },
  wait: { isWait: true, fields: { for: { kind: 'duration', description: 'How long.', initial: 'P1D' } } },
  wait_until: {
    isWait: true,
    fields: { time: { kind: 'time', initial: '09:00' }, weekdays: { kind: 'weekdays', isOptional: true } },
  },
  wait_for: {
    isWait: true,
    fields: {
      event: { kind: 'event', initial: '' },
      where: { kind: 'where', isOptional: true },
      sameKey: { kind: 'sameKey', isOptional: true },
      timeout: { kind: 'duration', description: 'How long at most.', initial: 'P7D' },
      steps: inner('after the event'),
      otherwise: inner('after the time-out'),
    },
  },
  branch: {
    fields: {
      rule: { kind: 'rule', initial: { all: [] } },
      steps: inner('if the rule is true'),
      otherwise: inner('if it is not'),
    },
  },
  split: { fields: { parts: { kind: 'parts', initial: [half, half] } } },
  update: { fields: { addTags: tags, removeTags: tags, traits: { kind: 'traits', default: {} } } },
  exit: { fields: {} },
} as const satisfies Readonly<Record<string, StepRow>>

/** The kinds of fields, and the types of their values. */
export interface FieldValues {
  channel: MessageChannel
  /** Id of the template. */
  template: string
  messageKind: MessageKind
  /** Key of the topic. */
  topic: string
  /** Key of a sender of the channel. */
  sender: string
  /** An ISO 8601 duration. `readDuration` returns its milliseconds. */
  duration: string
  /** `HH:MM`, local. */
  time: string
  /** 1 is Monday. Absent: every day. */
  weekdays: number[]
  /** Name of an event that the enrolment waits for. */
  event: string
  /** Conditions on the event. */
  where: PropertyCondition[]
  /** The event must carry the key of the enrolment: at this path, or at that of the trigger's key. */
  sameKey: true | string
  /** As it was written: resolve it before testing it. */
  rule: Rule
  steps: Step[]
  parts: SplitPart[]
  /** No tag is in two lists of a step. */
  tags: string[]
  /** Values that are not named stay unchanged. Null clears a field. */
  traits: Record<string, TraitValue>
}
export type FieldKind = keyof FieldValues

export interface SplitPart {
  /** In steps of 0.01. The shares of a split add up to 100. */
  percent: number
  steps: Step[]
}

export const MESSAGE_KINDS = ['marketing', 'transactional'] as const
/**
 * Transactional: a receipt or a password, for example. It needs no opt-in, and ignores caps, quiet hours and hold-out.
 */
export type MessageKind = (typeof MESSAGE_KINDS)[number]

export type Rows = typeof STEPS
export type StepType = keyof Rows
export const STEP_TYPES = Object.keys(STEPS) as StepType[]

type ValueOf<Field> = Field extends { kind: infer Kind extends FieldKind } ? FieldValues[Kind] : never
export type Fields<Row> = {
  -readonly [Name in keyof Row as Row[Name] extends { isOptional: true } ? never : Name]: ValueOf<Row[Name]>
} & { -readonly [Name in keyof Row as Row[Name] extends { isOptional: true } ? Name : never]?: ValueOf<Row[Name]> }
export type Flat<Part> = { [Name in keyof Part]: Part[Name] }
/** `id`: unique in the campaign, over all lists of its steps. */
export type StepOf<Type extends StepType> = Flat<{ id: string; type: Type } & Fields<Rows[Type]['fields']>>
export type Step = { [Type in StepType]: StepOf<Type> }[StepType]

export type SendStep = StepOf<'send'>
export type WaitForStep = StepOf<'wait_for'>
export type BranchStep = StepOf<'branch'>
export type SplitStep = StepOf<'split'>
export type UpdateStep = StepOf<'update'>

export type NamedField = [name: string, field: StepField]
export const fieldsOf = (type: StepType): NamedField[] => Object.entries(STEPS[type].fields)
