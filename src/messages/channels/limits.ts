/**
 * Limits of a sender per second and per day: settings of every provider. `src/rules/campaigns/channel-limits.ts`
 * applies them.
 */
import { Type } from '@sinclair/typebox'
import { faultOf } from '../../rules/faults.ts'
import { closed } from '../../rules/schemas.ts'

export const MAX_PER_SECOND = 10_000
export const MAX_DAILY_BUDGET = 1_000_000_000

const whole = (maximum: number, description: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum,
      description,
      rule: faultOf('', 'whole_number', { min: 1, max: maximum }),
    }),
  )

/** Each has a `rule`, like the settings of providers. */
export const LimitSettings = Type.Object(
  {
    perSecond: whole(MAX_PER_SECOND, 'Messages in any second. Left out: no limit.'),
    dailyBudget: whole(MAX_DAILY_BUDGET, 'Messages in a day of the business. Left out: no limit.'),
    reserve: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100,
        description: 'Percentage of the daily budget that is left to transactional messages, rounded up. Left out: 0.',
        rule: faultOf('', 'whole_number', { min: 0, max: 100 }),
      }),
    ),
  },
  closed,
)
