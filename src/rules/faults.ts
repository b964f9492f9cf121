import { ANALYTICS_FAULTS } from './faults/analytics.ts'
import { BUSINESS_FAULTS } from './faults/businesses.ts'
import { CALL_FAULTS } from './faults/calls.ts'
import { CAMPAIGN_FAULTS } from './faults/campaigns.ts'
import { CHANNEL_FAULTS } from './faults/channels.ts'
import { CONTACT_FAULTS } from './faults/contacts.ts'
import { FIELD_FAULTS } from './faults/fields.ts'
import { IMPORT_FAULTS } from './faults/imports.ts'
import { REFUSALS } from './faults/refusals.ts'
import { RULE_FAULTS } from './faults/segments.ts'
import { TEMPLATE_FAULTS } from './faults/templates.ts'
import { TOPIC_FAULTS } from './faults/topics.ts'

/**
 * Messages for everything that can be wrong; `{name}` stands for a value. The codes do not change between versions. The
 * dashboard has translations of each text (src/dashboard/src/texts).
 */
export const FAULTS = {
  ...FIELD_FAULTS,
  ...BUSINESS_FAULTS,
  ...CONTACT_FAULTS,
  ...RULE_FAULTS,
  ...CAMPAIGN_FAULTS,
  ...CALL_FAULTS,
  ...TEMPLATE_FAULTS,
  ...CHANNEL_FAULTS,
  ...ANALYTICS_FAULTS,
  ...IMPORT_FAULTS,
  ...TOPIC_FAULTS,
  ...REFUSALS,
} as const

export type FaultCode = keyof typeof FAULTS

type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
export type FaultValue = string | number
/** The values that the text of a code contains. */
export type FaultValues<Code extends FaultCode> = [Names<(typeof FAULTS)[Code]>] extends [never]
  ? []
  : [values: Record<Names<(typeof FAULTS)[Code]>, FaultValue>]

/**
 * The reason why a call is rejected. `path` names the field (`identity.email`, `tags.3`), `message` states the rule for
 * a person to read.
 */
export interface Fault {
  path: string
  message: string
  /** A key of `FAULTS`. Absent when another program, such as a server or a renderer, wrote the message. */
  code?: FaultCode
  /** The values in the text of the code. */
  values?: Record<string, FaultValue>
}

/** Composes a fault. The message is the path, followed by the text of the code. */
export function faultOf<Code extends FaultCode>(path: string, code: Code, ...[values]: FaultValues<Code>): Fault {
  const text = values === undefined ? FAULTS[code] : fillIn(FAULTS[code], inEnglish(values))
  const message = path === '' ? text : `${path} ${text}`
  return values === undefined ? { path, message, code } : { path, message, code, values }
}

const LIST = new Intl.ListFormat('en-GB')
/** In `fields`, names are separated only by commas, so that every language can format them. */
const inEnglish = (values: Record<string, FaultValue>): Record<string, FaultValue> =>
  values['fields'] === undefined ? values : { ...values, fields: LIST.format(String(values['fields']).split(', ')) }

/** Returns the same fault for another path. */
export function moveFault(fault: Fault, path: string): Fault {
  const { message } = fault
  const rule = fault.path !== '' && message.startsWith(fault.path) ? message.slice(fault.path.length) : ` ${message}`
  return { ...fault, path, message: `${path}${rule}` }
}

const fillIn = (text: string, values: Record<string, FaultValue>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? value.toLocaleString('en-US') : value
  })
