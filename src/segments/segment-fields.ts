/** The fields that a rule can read, as a picker offers them. */
import { type CustomField, listDescribedFields } from '../contacts/read/list-custom-fields.ts'
import { CHANNELS } from '../rules/events/facts.ts'
import { ATTRIBUTES, ATTRIBUTE_NAMES, type Attribute } from '../rules/segments/grammar/attributes.ts'
import { TYPE_OF_FIELD, type ValueType, operatorsOf } from '../rules/segments/grammar/operators.ts'
import type { Sql } from '../stores/postgres.ts'
import { type NameDeps, listEventNames, listTags } from './list-known-names.ts'

export const FIELD_GROUPS = ['Attributes', 'Custom fields', 'Tags', 'Events', 'Segments'] as const

export interface RuleField {
  /** For example `event.purchase.count`. */
  path: string
  label: string
  type: ValueType
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

const typed = (type: ValueType, isField = false) => ({ type, operators: operatorsOf(type, isField) })

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

const ATTRIBUTE_FIELDS = ATTRIBUTE_NAMES.flatMap((attribute): RuleField[] => {
  const field = { ...typed(ATTRIBUTES[attribute]), label: ATTRIBUTE_LABELS[attribute] }
  if (attribute !== 'subscribed') return [{ path: `attribute.${attribute}`, ...field, condition: { attribute } }]
  return CHANNELS.map((channel) => ({
    ...field,
    path: `attribute.${attribute}.${channel}`,
    label: `${field.label}: ${channel}`,
    condition: { attribute, channel },
  }))
})

const fieldOf = ({ key, type }: CustomField): RuleField => ({
  path: `customField.${key}`,
  label: key,
  ...typed(TYPE_OF_FIELD[type], true),
  condition: { customField: key },
})

const fieldOfTag = (tag: string): RuleField => ({
  path: `tag${accessOf(tag)}`,
  label: tag,
  ...typed('tag'),
  condition: { tag },
})

function fieldsOfEvent(event: string): RuleField[] {
  const path = `event${accessOf(event)}`
  return [
    {
      path,
      label: `${event}: last time`,
      ...typed('date'),
      condition: { event, metric: 'last' },
    },
    {
      path: `${path}.count`,
      label: `${event}: count`,
      ...typed('number'),
      condition: { event, metric: 'count' },
    },
  ]
}

const fieldOfSegment = ({ id, name }: { id: string; name: string }): RuleField => ({
  path: `segment.${id}`,
  label: name,
  ...typed('segment'),
  condition: { segment: id },
})

/** A name that would make the path ambiguous is written in brackets: `event["order.count"].count`. */
const accessOf = (name: string): string => (/[.[\]"]/.test(name) ? `[${JSON.stringify(name)}]` : `.${name}`)
