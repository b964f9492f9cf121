/**
 * The schemas of rules in the OpenAPI document, made from the rows of operators. `readRule` checks what callers send: it
 * names the place of each fault, and knows the custom fields. A test holds both to the same answers.
 */
import { type TSchema, type TUnsafe, Type } from '@sinclair/typebox'
import { CHANNELS } from '../../events/facts.ts'
import { STAGES } from '../../events/journey-stage.ts'
import { closed, oneOf, orNull } from '../../schemas.ts'
import type { ExplainedRule } from '../explain-rule.ts'
import { PSEUDO_PROPERTIES } from '../reading/property-path.ts'
import type { PropertyCondition, Rule } from '../rule.ts'
import { ATTRIBUTES, ATTRIBUTE_NAMES } from './attributes.ts'
import * as limits from './limits.ts'
import { type Operand, type ValueType, rowsOf } from './operators.ts'

type Fields = Record<string, TSchema>

const text = (maxLength: number, description?: string) =>
  Type.String({ minLength: 1, maxLength, ...(description !== undefined && { description }) })
const list = (items: TSchema) => Type.Array(items, { minItems: 1, maxItems: limits.MAX_TEXTS })
const days = Type.Number({
  exclusiveMinimum: 0,
  maximum: limits.MAX_DAYS,
  description: 'Days of 24 hours; decimals are allowed.',
})
const decimal = Type.Union([
  Type.Number(),
  Type.String({ maxLength: limits.MAX_DECIMAL, pattern: limits.DECIMAL.source, description: 'An exact decimal.' }),
])

const valuesOf = (number: TSchema): Record<Exclude<Operand, 'none'>, TSchema> => ({
  days,
  instant: Type.String({ description: 'ISO 8601: a date, or a date and a time with its offset.' }),
  number,
  range: Type.Array(number, { minItems: 2, maxItems: 2, description: 'From and to, both in.' }),
  text: text(limits.MAX_TEXT),
  texts: list(text(limits.MAX_TEXT)),
  stage: oneOf(STAGES),
  stages: list(oneOf(STAGES)),
})

interface Operation {
  isField?: boolean
  takesDecimals?: boolean
}

/** Returns one list of fields for each kind of value that the operators of these types need. */
function operations(types: readonly ValueType[], { isField, takesDecimals }: Operation = {}): Fields[] {
  const values = valuesOf(takesDecimals ? decimal : Type.Number())
  const rows = types.flatMap((type) => rowsOf(type, isField))
  return [...Map.groupBy(rows, ({ operand }) => operand)].map(([operand, group]) => ({
    operator: oneOf([...new Set(group.map(({ operator }) => operator))]),
    ...(operand !== 'none' && { value: values[operand] }),
    ...((operand === 'text' || operand === 'texts') && {
      ignoreCase: Type.Optional(Type.Boolean({ description: 'A–Z and a–z are the same.' })),
    }),
  }))
}

const named = limits.MAX_NAME
const OPEN = ['text', 'number', 'boolean'] as const satisfies ValueType[]

function propertyConditions(): TSchema {
  const known = Object.entries(PSEUDO_PROPERTIES).map(([name, type]): [TSchema, ValueType[]] => [
    Type.Literal(name),
    [type],
  ])
  const others = Type.String({
    minLength: 1,
    maxLength: limits.MAX_PATH,
    pattern: `^(?!(${Object.keys(PSEUDO_PROPERTIES).join('|')})$)`,
    description: 'A path in the properties, such as `item.category`; or `value`, `currency`, `type` of the event.',
  })
  const forms = [...known, [others, [...OPEN]] as const]
  return Type.Union(
    forms.flatMap(([property, types]) => operations(types).map((rest) => Type.Object({ property, ...rest }, closed))),
    { $id: 'PropertyCondition', description: 'A condition on a property of an event.' },
  )
}

export const PropertyConditionSchema: TUnsafe<PropertyCondition> = Type.Unsafe(propertyConditions())

/** @param more fields of every condition */
function conditions(more: Fields): TSchema[] {
  const all = (description: string, fields: Fields, ...[types, of]: [readonly ValueType[], Operation?]) =>
    operations(types, of).map((rest) => Type.Object({ ...fields, ...rest, ...more }, { ...closed, description }))
  const event = text(named, 'The name of an event.')
  const window = {
    withinDays: Type.Optional(days),
    where: Type.Optional(
      Type.Array(PropertyConditionSchema, { maxItems: limits.MAX_WHERE, description: 'All must hold.' }),
    ),
  }
  const topic = Type.Optional(text(named, 'The key of a topic: the contact gets it by this channel.'))
  const currency = Type.Optional(text(limits.MAX_CURRENCY, 'Left out: the default currency of the business.'))
  const plain = ATTRIBUTE_NAMES.filter((name) => name !== 'revenue' && name !== 'subscribed')
  const attributes = [...Map.groupBy(plain, (name) => ATTRIBUTES[name])]
  const sum = { event, metric: Type.Literal('sum') }
  return [
    ...all('When an event has happened.', { event, metric: oneOf(['last', 'first']) }, ['date']),
    ...all('How often an event has happened.', { event, metric: Type.Literal('count'), ...window }, ['number']),
    ...all('Revenue of events.', { ...sum, property: Type.Literal('value'), currency, ...window }, ['number'], {
      takesDecimals: true,
    }),
    ...all('The sum of a property of events.', { ...sum, property: text(limits.MAX_PATH), ...window }, ['number'], {
      takesDecimals: true,
    }),
    ...all('A custom field.', { customField: text(named) }, ['date', ...OPEN], { isField: true }),
    ...all('A tag.', { tag: text(named) }, ['tag']),
    ...all('Another segment.', { segment: text(named, 'Its id.') }, ['segment']),
    ...attributes.flatMap(([type, names]) => all('An attribute of the contact.', { attribute: oneOf(names) }, [type])),
    ...all('Revenue of the contact.', { attribute: Type.Literal('revenue'), currency }, ['number'], {
      takesDecimals: true,
    }),
    ...all('Consent.', { attribute: Type.Literal('subscribed'), channel: oneOf(CHANNELS), topic }, ['boolean']),
  ]
}

interface Form {
  $id: string
  description: string
  ofGroups?: Fields
  ofConditions?: Fields
}

const ruleOf = ({ ofGroups, ofConditions = {}, ...named }: Form): TSchema =>
  Type.Recursive((rule) => {
    const inner = Type.Array(rule, { minItems: 1, maxItems: limits.MAX_IN_A_GROUP })
    const group = (fields: Fields, description: string) =>
      Type.Object({ ...fields, ...ofGroups }, { ...closed, description })
    return Type.Union([
      group({ all: inner }, 'True when every rule in it is true.'),
      group({ any: inner }, 'True when at least one rule in it is true.'),
      group({ not: rule }, 'True when the rule in it is not true.'),
      ...conditions(ofConditions),
    ])
  }, named)

export const RuleSchema: TUnsafe<Rule> = Type.Unsafe(
  ruleOf({
    $id: 'Rule',
    description:
      `A group or a condition: see \`docs/segments.md\`. At most 32 KiB, ${limits.MAX_CONDITIONS} conditions and ` +
      `${limits.MAX_LEVELS} levels. Null counts as left out.`,
  }),
)

const matches = Type.Boolean()

export const ExplainedRuleSchema: TUnsafe<ExplainedRule> = Type.Unsafe(
  ruleOf({
    $id: 'ExplainedRule',
    description: 'A rule with its answers for one contact.',
    ofGroups: { matches },
    ofConditions: {
      matches,
      seen: orNull(
        Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Type.String())], {
          description: 'What the condition compared.',
        }),
      ),
      stale: Type.Optional(
        Type.Literal(true, {
          description: 'Events or time may have changed the count or the sum since the timeline was read.',
        }),
      ),
    },
  }),
)
