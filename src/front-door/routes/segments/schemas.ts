/** Schemas of the bodies and answers of the segment routes. */
import { Type } from '@sinclair/typebox'
import { CAUSES } from '../../../outbox/segment-change-row.ts'
import { VALUE_TYPES } from '../../../rules/segments/grammar/operators.ts'
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
const ruleField = (more: string) =>
  Type.Record(Type.String(), Type.Unknown(), {
    description: `A group (\`all\`, \`any\`, \`not\`) or a condition: see \`docs/segments.md\`. ${more}`,
  })
const sentRule = ruleField('At most 32 KiB, 100 conditions and 8 levels.')

export const NewSegmentSchema = Type.Object({ name, description, rule: sentRule })

export const SegmentChangeSchema = Type.Object({
  name: Type.Optional(name),
  description,
  rule: Type.Optional(sentRule),
})

export const PreviewSchema = Type.Object({
  rule: sentRule,
  sample: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_SAMPLE,
      description: 'How many contacts to name, newest first. 10 when left out.',
    }),
  ),
})

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
const Segment = Type.Object({ ...listed, rule: ruleField('As it was sent last.') }, closed)

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
    rule: ruleField(
      'Every group and condition has `matches`, and every condition has `seen`: the value that it compared, or null. A count or ' +
        'sum of the timeline has `stale` while events or time may have changed it since it was read.',
    ),
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
