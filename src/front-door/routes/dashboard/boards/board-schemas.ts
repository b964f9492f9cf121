/** Schemas of the bodies and answers of the board routes. */
import { Type } from '@sinclair/typebox'
import { BOARD_LIMITS, CHART_KINDS, CHART_SIZES } from '../../../../analytics/boards/board.ts'
import { text } from '../../body-fields.ts'
import { closed, count, oneOf, orNull, uuid } from '../../reply-fields.ts'

const { name: maxName, title: maxTitle, charts, boards, parameters, query: maxQuery, page: maxPage } = BOARD_LIMITS

const name = text(1, maxName, 'Each board of a business has another name.')
const title = text(1, maxTitle, 'Shown over the chart.')
const size = oneOf(CHART_SIZES)
const id = Type.String({ maxLength: 36 })
const kind = oneOf(CHART_KINDS)
const version = Type.Integer({ minimum: 1, description: 'Goes up with each change of the name or the charts.' })
const days = Type.Integer({
  minimum: 1,
  maximum: BOARD_LIMITS.days,
  description:
    'The time range: this number of days up to now, in the time zone of the business, in place of `from` and `to`.',
})

export const NewBoardBody = Type.Object({ name })

export const BoardBody = Type.Object({
  version,
  name,
  charts: Type.Array(Type.Object({ id, title, size }), {
    maxItems: charts,
    description: 'All that stay, in their order. What is left out is removed.',
  }),
})

export const ChartBody = Type.Object({
  title,
  kind,
  query: Type.Record(Type.String(), Type.String({ maxLength: maxQuery }), {
    maxProperties: parameters,
    description:
      'Parameters of the endpoint below `/api/analytics` that the kind names, checked as there. Of `sql`: `queryId`, the id of a saved query.',
  }),
  days: Type.Optional(days),
  page: text(1, maxPage, 'The page of the chart, after `/dashboard/b/ID/`, with its query.', 'analytics?days=7'),
  size,
})

export const OrderBody = Type.Object({
  ids: Type.Array(id, { maxItems: boards, description: 'All boards, in their new order.' }),
})

export const MailBody = Type.Object({
  isOn: Type.Boolean(),
  recipients: Type.Array(id, { maxItems: BOARD_LIMITS.recipients, description: 'Ids of people of the business.' }),
})

const Chart = Type.Object(
  {
    id: uuid,
    title: Type.String(),
    kind,
    size,
    days: orNull(days),
    needs: Type.String({ description: 'The permission that a person needs to see the chart.' }),
    query: orNull(
      Type.Record(Type.String(), Type.String(), { description: 'Null for a person who must not see the chart.' }),
    ),
    page: orNull(Type.String({ description: 'Null likewise.' })),
  },
  closed,
)

export const BoardData = Type.Object(
  {
    board: Type.Object(
      {
        id: uuid,
        name: Type.String(),
        version,
        charts: Type.Array(Chart),
        mail: Type.Object(
          { isOn: Type.Boolean(), recipients: Type.Array(uuid, { description: 'Ids of people of the business.' }) },
          closed,
        ),
      },
      closed,
    ),
  },
  closed,
)

export const BoardsData = Type.Object(
  {
    boards: Type.Array(
      Type.Object({ id: uuid, name: Type.String(), version, chartCount: count, isWeekly: Type.Boolean() }, closed),
      { maxItems: boards, description: 'In their order.' },
    ),
  },
  closed,
)
