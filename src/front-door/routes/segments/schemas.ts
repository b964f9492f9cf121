/** Schemas of the bodies and answers of the segment routes. */
import { type TSchema, Type } from '@sinclair/typebox'
import { CAUSES } from '../../../outbox/segment-change-row.ts'
import { VALUE_TYPES } from '../../../rules/segments/grammar/operators.ts'
import { ExplainedRuleSchema, RuleSchema } from '../../../rules/segments/grammar/rule-schema.ts'
import { text } from '../body-fields.ts'
import { MAX_DESCRIPTION, MAX_NAME } from '../../../segments/limits.ts'
import { FIELD_GROUPS } from '../../../segments/segment-fields.ts'
import { closed, count, dateTime, nextCursor, oneOf, orNull, uuid } from '../reply-fields.ts'

export const MAX_SAMPLE = 100

const name = text(1, MAX_NAME, 'A name for people.', 'Lapsed buyers')
const description = Type.Optional(
  Type.String({
    maxLength: MAX_DESCRIPTION,
    description: 'For people. Empty: none.',
    examples: ['Bought, then quiet'],
  }),
)
const sample = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_SAMPLE,
    description: 'How many contacts to name, newest first. 10 when left out.',
  }),
)

const bodiesWith = <Rule extends TSchema>(rule: Rule) => ({
  create: Type.Object({ name, description, rule }),
  change: Type.Object({ name: Type.Optional(name), description, rule: Type.Optional(rule) }),
  preview: Type.Object({ rule, sample }),
})

/** The parts that the schemas check; `readRule` checks the rule. */
export const CHECKED = bodiesWith(Type.Record(Type.String(), Type.Unknown()))

/** For the OpenAPI description. */
export const SENT = bodiesWith(RuleSchema)

const listed = {
  segmentId: uuid,
  name: Type.String(),
  description: orNull(Type.String()),
  status: Type.Unsafe<'computing' | 'ready'>({
    ...oneOf(['computing', 'ready']),
    description: 'While `computing`, the members are those of the rule before; of a new segment, none.',
  }),
  progress: Type.Number({ minimum: 0, maximum: 1, description: 'Of the computation; 1 when `ready`.' }),
  memberCount: count,
  version: Type.Integer({ minimum: 1, description: 'Goes up with each change of the rule.' }),
  warnings: Type.Array(Type.Object({ path: Type.String(), message: Type.String() }, closed), {
    description: 'Conditions that are undefined for every contact, because the custom field has another type.',
  }),
  createdAt: dateTime,
  updatedAt: dateTime,
}

const ListedSegment = Type.Object(listed, closed)
const Segment = Type.Object({ ...listed, rule: RuleSchema }, closed)

export const SegmentData = Type.Object({ segment: Segment }, closed)
export const SegmentsData = Type.Object({ segments: Type.Array(ListedSegment) }, closed)
export const DeletedSegmentData = Type.Object({ segmentId: uuid }, closed)

const cause = oneOf(CAUSES)
const contactOrErased = orNull(Type.String({ format: 'uuid', description: 'Null for a person who was erased.' }))

export const MembersData = Type.Object(
  {
    members: Type.Array(Type.Object({ contactId: contactOrErased, enteredAt: dateTime, cause }, closed)),
    nextCursor,
  },
  closed,
)

export const ChangesData = Type.Object(
  {
    changes: Type.Array(
      Type.Object({ contactId: contactOrErased, change: oneOf(['entered', 'left']), at: dateTime, cause }, closed),
    ),
    nextCursor,
  },
  closed,
)

export const HistoryData = Type.Object(
  {
    days: Type.Array(
      Type.Object(
        {
          day: Type.String({ description: 'In UTC, such as 2026-03-01.' }),
          entered: count,
          left: count,
          members: Type.Integer({ minimum: 0, description: 'At the end of the day.' }),
        },
        closed,
      ),
    ),
  },
  closed,
)

export const ExplanationData = Type.Object(
  {
    member: Type.Boolean({ description: 'Evaluated now.' }),
    enteredAt: orNull(dateTime),
    changesAt: orNull(
      Type.String({ format: 'date-time', description: 'When time alone changes `member`, if no event does before.' }),
    ),
    rule: ExplainedRuleSchema,
  },
  closed,
)

export const PreviewData = Type.Object(
  { count, sample: Type.Array(uuid, { maxItems: MAX_SAMPLE }), asOf: dateTime },
  closed,
)

export const SegmentFieldsData = Type.Object(
  {
    groups: Type.Array(
      Type.Object(
        {
          group: oneOf(FIELD_GROUPS),
          fields: Type.Array(
            Type.Object(
              {
                path: Type.String(),
                label: Type.String(),
                type: oneOf(VALUE_TYPES),
                operators: Type.Array(Type.String()),
                condition: Type.Record(Type.String(), Type.Unknown(), { description: 'The start of a condition.' }),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
  },
  closed,
)
