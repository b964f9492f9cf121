/** The limit of different conditions on the events of one name: each recorded event is compared with all of them. */
import { FIELDS_OF_CONDITIONS, type StoredKeys } from '../contacts/load/campaign-keys.ts'
import { keyPathOf } from '../rules/campaigns/enrolment-key.ts'
import { type EventCondition, compileCondition, isConditional } from '../rules/campaigns/event-condition.ts'
import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import type { Queryable } from '../stores/postgres.ts'
import type { Campaign } from './campaign.ts'

/** Goals and steps, of campaigns that are published, and of versions that have active enrolments. */
export const MAX_CONDITIONS = 100

/**
 * Call it with the business locked, before the campaign is published or changed. Null: it has room for the conditions of
 * its present steps and goal.
 */
export async function findCrowdedEvent(tx: Queryable, businessId: string, campaign: Campaign): Promise<Fault | null> {
  const own = conditionsOf(campaign).filter(isConditional)
  if (own.length === 0) return null
  await forgetFormerSteps(tx, businessId)
  const rows = await tx<Pick<StoredKeys, 'enrolPer' | 'goalEvent' | 'goalWhere' | 'goalKey' | 'waits'>[]>`
    select ${tx.unsafe(FIELDS_OF_CONDITIONS)} from campaigns c
    where c.business_id = ${businessId} and c.status in ('published', 'paused')`
  const all = [
    ...own.map((one) => compileCondition(one, keyPathOf(campaign.enrolPer))),
    ...rows.flatMap(({ enrolPer, goalEvent, goalWhere, goalKey, waits }) =>
      [
        ...(waits ?? []),
        ...(goalEvent === null
          ? []
          : [
              {
                event: goalEvent,
                ...(goalWhere && { where: goalWhere }),
                ...(goalKey !== null && { sameKey: goalKey }),
              },
            ]),
      ]
        .filter(isConditional)
        .map((one) => compileCondition(one, enrolPer)),
    ),
  ]
  const names = new Set(own.map(({ event }) => event))
  for (const event of names) {
    const many = new Set(all.flatMap((one) => (one.event === event ? [one.identity] : []))).size
    if (many > MAX_CONDITIONS) return faultOf('', 'event_conditions_full', { max: MAX_CONDITIONS, event })
  }
  return null
}

const conditionsOf = ({ goal, steps }: Campaign): EventCondition[] => [
  ...(goal ? [goal] : []),
  ...walkSteps(steps).flatMap(({ step }) => (step.type === 'wait_for' ? [step] : [])),
]

/** Nobody is left in these versions, so nobody waits there. Saves look for their events no longer. */
async function forgetFormerSteps(tx: Queryable, businessId: string): Promise<void> {
  await tx`
    update campaign_versions v set waits = null
    from campaigns c
    where v.business_id = ${businessId} and v.waits is not null and c.business_id = v.business_id and c.id = v.campaign_id
      and v.version < c.version and not exists (
        select from enrolments e
        where e.business_id = v.business_id and e.campaign_id = v.campaign_id and e.version = v.version and e.state = 'active'
      )`
}
