/** Describes the meaning of a rule in words. */
import type { ValueType } from '../../../../rules/segments/grammar/operators.ts'
import type { texts } from '../../texts/en/segment-rules.ts'
import { type Draft, type FieldTypes, guessType, shapeOf, subjectOf, typeOf, whereOf } from './condition.ts'
import { entryOf } from './entry-of.ts'
import { type Group, type Node, isGroup } from './tree.ts'

export type Words = typeof texts

export interface Part {
  text: string
  /** A name or value from callers, with its own text direction. */
  isValue: boolean
}

export interface Speaker {
  words: Words
  fieldTypes: FieldTypes
  /** Undefined when the segment does not exist. */
  nameOfSegment: (id: string) => string | undefined
  formatNumber: (value: number) => string
  formatTime: (at: Date) => string
}

export const word = (text: string): Part => ({ text, isValue: false })
export const value = (text: string): Part => ({ text, isValue: true })
const GAP = '…'

/** Returns the parts in order, including spaces. */
export function describeNode(node: Node, speaker: Speaker): Part[] {
  const inner = isGroup(node) ? describeGroup(node, speaker) : describeCondition(node.condition, speaker)
  // An even number of `not` has no effect.
  return node.nots % 2 === 0 ? inner : [word(`${speaker.words.not} `), ...inBrackets(inner)]
}

const inBrackets = (parts: Part[]): Part[] => [word('('), ...parts, word(')')]

function describeGroup({ kind, nodes }: Group, speaker: Speaker): Part[] {
  if (nodes.length === 0) return [word(GAP)]
  const join = word(` ${kind === 'all' ? speaker.words.and : speaker.words.or} `)
  const described = nodes.map((node) => {
    const parts = describeNode(node, speaker)
    const isCompound = isGroup(node) && node.nodes.length > 1 && node.nots % 2 === 0
    return isCompound && nodes.length > 1 ? inBrackets(parts) : parts
  })
  return described.flatMap((parts, at) => (at === 0 ? parts : [join, ...parts]))
}

export function describeCondition(condition: unknown, speaker: Speaker): Part[] {
  const subject = subjectOf(condition)
  if (subject === undefined) return [value(JSON.stringify(condition))]
  const { words } = speaker
  const draft = condition as Draft
  const phrase = entryOf(words.phrases, draft.operator)
  if (subject.reads === 'tag') return fill(phrase ?? GAP, [[value(subject.name)]])
  if (subject.reads === 'segment') {
    const name = speaker.nameOfSegment(subject.name)
    return fill(phrase ?? GAP, [[name === undefined ? word(words.deleted) : value(name)]])
  }
  if (subject.name === 'subscribed' && subject.reads === 'attribute' && phrase !== undefined) {
    return fill(phrase, [[channelOf(draft, words), ...topicOf(draft)]])
  }
  return [
    ...describeSubject(draft, speaker),
    word(' '),
    ...describeComparison(draft, typeOf(draft, speaker.fieldTypes), speaker),
  ]
}

function channelOf({ channel }: Draft, { channels }: Words): Part {
  return word(entryOf(channels, channel) ?? GAP)
}

const topicOf = ({ topic }: Draft): Part[] =>
  typeof topic === 'string' && topic !== '' ? [word(' '), value(topic)] : []

function describeSubject(draft: Draft, speaker: Speaker): Part[] {
  const { words } = speaker
  const { reads, name } = subjectOf(draft) ?? { reads: 'event', name: GAP }
  if (reads === 'customField') return [value(name)]
  if (reads === 'attribute') return describeAttribute(draft, name, words)
  const { count, last, first, sum } = words.subjects
  const template = entryOf({ count, last, first, sum }, draft['metric']) ?? GAP
  const happening = describeHappening(draft, name, speaker)
  // Whether there is a last or a first one is whether there is any.
  const isOne = draft['metric'] === 'last' || draft['metric'] === 'first'
  if (isOne && Object.hasOwn(words.happened, String(draft.operator))) return happening
  return fill(template, draft['metric'] === 'sum' ? [[value(textOf(draft['property']))], happening] : [happening])
}

function describeAttribute({ currency }: Draft, name: string, { attributes }: Words): Part[] {
  const label = word(entryOf(attributes, name) ?? name)
  return typeof currency === 'string' && currency !== '' ? [label, word(' '), value(currency)] : [label]
}

/** Describes the event and its restrictions. */
function describeHappening(draft: Draft, name: string, speaker: Speaker): Part[] {
  const { words, formatNumber } = speaker
  const { withinDays, currency } = draft
  const event = typeof currency === 'string' ? [value(name), word(' '), value(currency)] : [value(name)]
  const conditions = whereOf(draft).map((one) => describeProperty(one, speaker))
  const joined = conditions.flatMap((parts, at) => (at === 0 ? parts : [word(` ${words.and} `), ...parts]))
  const narrowed = joined.length === 0 ? event : fill(words.subjects.where, [event, joined])
  if (withinDays === undefined) return narrowed
  const days = typeof withinDays === 'number' ? formatNumber(withinDays) : GAP
  return fill(words.subjects.within(days), [narrowed, [value(days)]])
}

function describeProperty(condition: Draft, speaker: Speaker): Part[] {
  return [
    value(textOf(condition['property'])),
    word(' '),
    ...describeComparison(condition, guessType(condition), speaker),
  ]
}

function describeComparison(draft: Draft, type: ValueType, speaker: Speaker): Part[] {
  const { words } = speaker
  const parts = fill(operatorLabel(words, draft, type), describeValue(draft, type, speaker))
  return draft['ignoreCase'] === true ? [...parts, word(` (${words.ignoringCase})`)] : parts
}

/** Returns the operator's label in a list of operators. */
export function operatorLabel(words: Words, { operator, event }: Draft, type: ValueType): string {
  const labels: Record<string, string> = {
    ...words.operators[type],
    ...(event !== undefined && type === 'date' && words.happened),
  }
  return entryOf(labels, operator) ?? textOf(operator)
}

const MAX_SHOWN = 5

/** Returns one list of parts for each gap in the operator's words. */
function describeValue(draft: Draft, type: ValueType, { words, formatNumber, formatTime }: Speaker): Part[][] {
  const given = draft.value
  const one = (item: unknown): Part =>
    value(typeof item === 'number' ? formatNumber(item) : item === null || item === '' ? GAP : textOf(item))
  const shape = shapeOf(type, draft.operator)
  if (shape === 'instant') return [[isInstant(given) ? value(formatTime(new Date(given))) : one(given)]]
  if (!Array.isArray(given)) return [[one(given)]]
  if (shape === 'range') return given.map((item) => [one(item)])
  const shown = given.slice(0, MAX_SHOWN).map(one)
  const left = given.length - shown.length
  const all = left > 0 ? [...shown, word(words.more(formatNumber(left)))] : shown
  return [all.flatMap((part, at) => (at === 0 ? [part] : [word(', '), part]))]
}

const isInstant = (text: unknown): text is string => typeof text === 'string' && !Number.isNaN(Date.parse(text))

const textOf = (given: unknown): string => (typeof given === 'string' ? given || GAP : (JSON.stringify(given) ?? GAP))

/** Returns the template with its gaps (`…`) filled in order. A gap without parts stays. */
export function fill(template: string, gaps: readonly Part[][]): Part[] {
  return template
    .split(GAP)
    .flatMap((text, at) => [...(at === 0 ? [] : (gaps[at - 1] ?? [word(GAP)])), ...(text === '' ? [] : [word(text)])])
}

/**
 * For places that can hold only text. Values are isolated, because their direction must not reorder the words around
 * them.
 */
export const plainText = (parts: readonly Part[]): string =>
  parts.map(({ text, isValue }) => (isValue ? `\u2068${text}\u2069` : text)).join('')
