/** Schemas of the body and the answers of a backtest. */
import { Type } from '@sinclair/typebox'
import { BACKTEST_STATUSES } from '../../../campaigns/backtest/backtest-store.ts'
import { APPROXIMATIONS } from '../../../campaigns/backtest/plan-backtest.ts'
import { MAX_SAMPLES, MAX_SAMPLE_SENDS } from '../../../rules/campaigns/backtest-tally.ts'
import { MESSAGE_CHANNELS } from '../../../rules/messages/message-channel.ts'
import { SKIP_REASONS } from '../../../rules/messages/message-reasons.ts'
import { CAMPAIGN_EXAMPLE, ENROLMENT_EXAMPLE } from '../../openapi/examples.ts'
import { closed, count, dateTime, oneOf, orNull, uuid } from '../reply-fields.ts'

const instant = (description: string) =>
  Type.Union([Type.String(), Type.Number()], {
    description: `${description} ISO 8601 (UTC without an offset), or epoch milliseconds.`,
    examples: ['2026-02-01T00:00:00Z', 1_769_904_000_000],
  })

export const BacktestSchema = Type.Object({
  from: instant('The instant from which on contacts may enter.'),
  to: Type.Optional(
    instant(
      'The instant from which on nobody enters any more. Not in the future, and at most 366 days after `from`. When left out: now.',
    ),
  ),
})

export const StartedBacktestData = Type.Object({ backtestId: uuid }, closed)

const STATES = ['active', 'finished', 'converted', 'stopped'] as const
const days = Type.Object({ day: Type.String(), entered: count, sent: count, converted: count }, closed)

const steps = Type.Object(
  {
    stepId: Type.String(),
    entered: count,
    channel: orNull(oneOf(MESSAGE_CHANNELS)),
    sent: count,
    skipped: Type.Object(Object.fromEntries(SKIP_REASONS.map((reason) => [reason, Type.Optional(count)])), closed),
  },
  closed,
)

const samples = Type.Object(
  {
    contactId: uuid,
    enrolledAt: dateTime,
    state: oneOf(STATES),
    endsAt: orNull(dateTime),
    stepId: orNull(Type.String({ description: 'Where an active one is.' })),
    sends: Type.Array(
      Type.Object(
        {
          stepId: Type.String(),
          channel: oneOf(MESSAGE_CHANNELS),
          at: dateTime,
          reason: orNull(oneOf(SKIP_REASONS)),
        },
        closed,
      ),
      { description: `The first ${MAX_SAMPLE_SENDS}. Without a \`reason\` it was sent.` },
    ),
  },
  closed,
)

const result = Type.Object(
  {
    contacts: count,
    entered: count,
    active: count,
    finished: count,
    converted: count,
    stopped: count,
    heldOut: count,
    conversionRate: orNull(Type.Number()),
    sent: count,
    steps: Type.Array(steps, { description: 'All of them, in their order.' }),
    revenue: Type.Record(Type.String(), Type.Number(), {
      description: 'By currency: of the converted ones, from the enrolment to its end.',
    }),
    days: Type.Array(days, { description: 'By the day of the enrolment, in the time zone of the business.' }),
    samples: Type.Array(samples, { description: `Some enrolments, at most ${MAX_SAMPLES}.` }),
    isComplete: Type.Boolean({ description: 'Every contact was replayed.' }),
    leftOut: Type.Integer({ minimum: 0, description: 'Contacts with too many events.' }),
    approximations: Type.Array(oneOf(APPROXIMATIONS), {
      description: 'What is taken as it is today, or left out: see `docs/campaigns.md`.',
    }),
  },
  closed,
)

export const BacktestData = Type.Object(
  {
    backtest: Type.Object(
      {
        backtestId: uuid,
        campaignId: uuid,
        version: count,
        from: dateTime,
        to: dateTime,
        status: oneOf(BACKTEST_STATUSES),
        startedAt: dateTime,
        endedAt: orNull(dateTime),
        progress: Type.Object(
          { done: count, total: orNull(count) },
          { ...closed, description: 'Contacts. `total` is null until it is known.' },
        ),
        result: orNull(result),
        error: orNull(Type.String({ description: 'Why it failed.' })),
      },
      closed,
    ),
  },
  closed,
)

export const BACKTEST_EXAMPLE = {
  backtestId: '0198c5a0-a8b3-7e51-8c24-5d6e7f8091a2',
  campaignId: CAMPAIGN_EXAMPLE.campaignId,
  version: 1,
  from: '2026-02-01T00:00:00.000Z',
  to: '2026-03-01T00:00:00.000Z',
  status: 'done',
  startedAt: '2026-03-01T09:30:00.000Z',
  endedAt: '2026-03-01T09:30:04.000Z',
  progress: { done: 3, total: 3 },
  result: {
    contacts: 2,
    entered: 2,
    active: 0,
    finished: 1,
    converted: 1,
    stopped: 0,
    heldOut: 0,
    conversionRate: 0.5,
    sent: 2,
    steps: [
      { stepId: 'hello', entered: 2, channel: 'email', sent: 2, skipped: {} },
      { stepId: 'pause', entered: 2, channel: null, sent: 0, skipped: {} },
      { stepId: 'reminder', entered: 1, channel: 'email', sent: 0, skipped: { no_opt_in: 1 } },
    ],
    revenue: { USD: 49.9 },
    days: [{ day: '2026-02-03', entered: 2, sent: 2, converted: 1 }],
    samples: [
      {
        contactId: ENROLMENT_EXAMPLE.contactId,
        enrolledAt: '2026-02-03T12:00:00.000Z',
        state: 'converted',
        endsAt: '2026-02-04T08:15:00.000Z',
        stepId: null,
        sends: [{ stepId: 'hello', channel: 'email', at: '2026-02-03T12:00:00.000Z', reason: null }],
      },
    ],
    isComplete: true,
    leftOut: 0,
    approximations: ['settings', 'contact', 'suppressions', 'merges'],
  },
  error: null,
}
