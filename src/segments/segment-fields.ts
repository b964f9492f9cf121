/** The fields that a rule can read, as a picker offers them. */
import { type CustomField, listDescribedFields } from '../contacts/read/list-custom-fields.ts'
import { CHANNELS, type FieldType } from '../rules/events/facts.ts'
import {
  ATTRIBUTES,
  type Attribute,
  type AttributeType,
  BOOLEAN_OPERATORS,
  DATE_OPERATORS,
  NUMBER_OPERATORS,
  SEGMENT_OPERATORS,
  STAGE_OPERATORS,
  TAG_OPERATORS,
  TEXT_OPERATORS,
} from '../rules/segments/rule.ts'
import type { Sql } from '../stores/postgres.ts'
import { type NameDeps, listEventNames, listTags } from './list-known-names.ts'

export const FIELD_GROUPS = ['Attributes', 'Custom fields', 'Tags', 'Events', 'Segments'] as const
export const RULE_TYPES = ['date', 'number', 'text', 'boolean', 'stage', 'tag', 'segment'] as const

export interface RuleField {
  /** For example `event.purchase.count`. */
  path: string
  label: string
  type: (typeof RULE_TYPES)[number]
  operators: readonly string[]
  /** The beginning of a condition. */
  condition: Record<string, string>
}

export interface FieldGroup {
  group: (typeof FIELD_GROUPS)[number]
  fields: RuleField[]
}

export const MAX_FIELDS_OF_GROUP = 500
const FIELDS_OF_EVENT = 2

/** `query`: part of a name, ignoring case; empty: any name. There is no group of events before the first event. */
export async function listSegmentFields(deps: NameDeps, businessId: string, query: string): Promise<FieldGroup[]> {
  const [fields, tags, events, segments] = await Promise.all([
    listDescribedFields(deps.sql, businessId),
    listTags(deps, { businessId, query, limit: MAX_FIELDS_OF_GROUP }),
    listEventNames(deps, { businessId, query, limit: MAX_FIELDS_OF_GROUP / FIELDS_OF_EVENT }),
    listNamedSegments(deps.sql, businessId),
  ])
  const hasEvents = events.length > 0 || (await listEventNames(deps, { businessId, query: '', limit: 1 })).length > 0
  const ofEvents: FieldGroup = { group: 'Events', fields: events.flatMap(fieldsOfEvent) }
  return [
    { group: 'Attributes', fields: ATTRIBUTE_FIELDS.filter(named(query)) },
    {
      group: 'Custom fields',
      fields: fields
        .filter(({ isHidden }) => !isHidden)
        .map(fieldOf)
        .filter(named(query)),
    },
    { group: 'Tags', fields: tags.map(fieldOfTag) },
    ...(hasEvents ? [ofEvents] : []),
    { group: 'Segments', fields: segments.map(fieldOfSegment).filter(named(query)).slice(0, MAX_FIELDS_OF_GROUP) },
  ]
}

const named =
  (query: string) =>
  ({ label }: RuleField): boolean =>
    label.toLowerCase().includes(query.toLowerCase())

/** Oldest first. */
async function listNamedSegments(sql: Sql, businessId: string): Promise<{ id: string; name: string }[]> {
  return sql<{ id: string; name: string }[]>`
    select id, name from segments where business_id = ${businessId} order by created_at, id`
}

/** Only custom fields can be compared with days in the future. */
const PAST_OPERATORS = DATE_OPERATORS.filter((operator) => operator !== 'within_next_days')

const OF_ATTRIBUTES: Record<AttributeType, Pick<RuleField, 'type' | 'operators'>> = {
  text: { type: 'text', operators: TEXT_OPERATORS },
  texts: { type: 'text', operators: TEXT_OPERATORS },
  stage: { type: 'stage', operators: STAGE_OPERATORS },
  number: { type: 'number', operators: NUMBER_OPERATORS },
  date: { type: 'date', operators: PAST_OPERATORS },
  boolean: { type: 'boolean', operators: BOOLEAN_OPERATORS },
}

const ATTRIBUTE_LABELS: Record<Attribute, string> = {
  firstName: 'First name',
  lastName: 'Last name',
  country: 'Country',
  city: 'City',
  language: 'Language',
  timezone: 'Time zone',
  email: 'Email',
  phone: 'Phone',
  platformCustomerId: 'Customer id',
  stage: 'Stage',
  revenue: 'Revenue',
  orderCount: 'Orders',
  createdAt: 'Created',
  subscribed: 'Subscribed',
}

const ATTRIBUTE_FIELDS = (Object.keys(ATTRIBUTES) as Attribute[]).flatMap((attribute): RuleField[] => {
  const field = { ...OF_ATTRIBUTES[ATTRIBUTES[attribute]], label: ATTRIBUTE_LABELS[attribute] }
  if (attribute !== 'subscribed') return [{ path: `attribute.${attribute}`, ...field, condition: { attribute } }]
  return CHANNELS.map((channel) => ({
    ...field,
    path: `attribute.${attribute}.${channel}`,
    label: `${field.label}: ${channel}`,
    condition: { attribute, channel },
  }))
})

const OF_FIELDS: Record<FieldType, Pick<RuleField, 'type' | 'operators'>> = {
  Date: { type: 'date', operators: DATE_OPERATORS },
  Number: { type: 'number', operators: NUMBER_OPERATORS },
  Text: { type: 'text', operators: TEXT_OPERATORS },
  Boolean: { type: 'boolean', operators: BOOLEAN_OPERATORS },
}

const fieldOf = ({ key, type }: CustomField): RuleField => ({
  path: `customField.${key}`,
  label: key,
  ...OF_FIELDS[type],
  condition: { customField: key },
})

const fieldOfTag = (tag: string): RuleField => ({
  path: `tag${accessOf(tag)}`,
  label: tag,
  type: 'tag',
  operators: TAG_OPERATORS,
  condition: { tag },
})

function fieldsOfEvent(event: string): RuleField[] {
  const path = `event${accessOf(event)}`
  return [
    {
      path,
      label: `${event}: last time`,
      type: 'date',
      operators: PAST_OPERATORS,
      condition: { event, metric: 'last' },
    },
    {
      path: `${path}.count`,
      label: `${event}: count`,
      type: 'number',
      operators: NUMBER_OPERATORS,
      condition: { event, metric: 'count' },
    },
  ]
}

const fieldOfSegment = ({ id, name }: { id: string; name: string }): RuleField => ({
  path: `segment.${id}`,
  label: name,
  type: 'segment',
  operators: SEGMENT_OPERATORS,
  condition: { segment: id },
})

/** A name that would make the path ambiguous is written in brackets: `event["order.count"].count`. */
const accessOf = (name: string): string => (/[.[\]"]/.test(name) ? `[${JSON.stringify(name)}]` : `.${name}`)
