/**
 * Checks who had to be enrolled, and whether the outcome of each enrolment agrees with the goal (decisions,
 * "Campaigns").
 */
import type { Business, Campaign } from '../create-businesses.ts'
import type { Enrolment, Held } from '../read-held.ts'
import type { RecordedFact } from './facts.ts'

export function checkCampaigns(businesses: Business[], recorded: RecordedFact[], held: Held): string[] {
  const campaigns = new Map(businesses.flatMap(({ campaigns }) => campaigns.map((one) => [one.campaignId, one])))
  const facts = Map.groupBy(recorded, ({ owner }) => owner)
  const enrolments = Map.groupBy(held.enrolments, ({ contactId, campaignId }) => `${contactId} ${campaignId}`)
  const strays = held.enrolments.filter(
    ({ contactId, campaignId }) => held.contacts.get(contactId)?.survivor !== contactId || !campaigns.has(campaignId),
  )
  const alive = [...held.contacts].filter(([id, { survivor }]) => id === survivor)
  return [
    ...strays.map(({ contactId }) => `an enrolment of ${contactId} belongs to no contact or campaign`),
    ...alive.flatMap(([id, { businessId, mergedIds }]) =>
      [...campaigns.values()]
        .filter((campaign) => campaign.businessId === businessId)
        .flatMap((campaign) => {
          const own = enrolments.get(`${id} ${campaign.campaignId}`) ?? []
          const person = { facts: facts.get(id) ?? [], once: 1 + mergedIds.length }
          return checkPerson(campaign, person, own).map((complaint) => `${id} in ${campaign.campaignId} ${complaint}`)
        }),
    ),
  ]
}

interface Person {
  facts: RecordedFact[]
  /**
   * Number of contacts that were merged into this one, including itself. Each may have been enrolled before the merge.
   */
  once: number
}

function checkPerson(
  { trigger, mark = '', goal, canEnterAgain, hasSteps }: Campaign,
  { facts, once }: Person,
  own: Enrolment[],
): string[] {
  // Batches never enrol.
  const triggers = facts.filter(
    ({ fact, recorded }) => fact.event === trigger && fact.mark.startsWith(mark) && recorded.source === 'live',
  )
  const goals = facts.filter(({ fact }) => fact.event === goal).map(({ occurredAt }) => occurredAt)
  const most = canEnterAgain ? triggers.length : Math.min(once, triggers.length)
  return [
    ...(triggers.length > 0 && own.length === 0 ? ['was never enrolled'] : []),
    ...(own.length > most ? [`was enrolled ${own.length} times, not ${most}`] : []),
    ...(own.filter(({ state }) => state === 'active').length > 1 ? ['is active twice'] : []),
    ...checkCauses(own, triggers),
    ...own
      .filter((one) => !(hasSteps && isFinished(one)) && !agrees(one, goals, own, once))
      .map((one) => `is ${describe(one)}, with goals at ${goals.join()}`),
  ]
}

/** Each enrolment has its own live trigger, and begins at the trigger's time, or at its receipt if that was earlier. */
function checkCauses(own: Enrolment[], triggers: RecordedFact[]): string[] {
  const left = triggers.map(
    ({ occurredAt, recorded: { receivedAt } }) => `${Math.min(occurredAt, receivedAt)} ${receivedAt}`,
  )
  return own.flatMap(({ enrolledAt, receivedAt }) => {
    const at = left.indexOf(`${enrolledAt} ${receivedAt}`)
    if (at === -1) return [`was enrolled as of ${enrolledAt} by no live trigger`]
    left.splice(at, 1)
    return []
  })
}

const isFinished = ({ state, endedAt }: Enrolment): boolean => state === 'finished' && endedAt !== null

/** Checks the state, as far as it does not depend on the order of arrival. */
function agrees(enrolment: Enrolment, goals: number[], own: Enrolment[], once: number): boolean {
  const { state, enrolledAt, endedAt } = enrolment
  const isReached = goals.some((goal) => goal >= enrolledAt)
  switch (state) {
    case 'active':
      return !isReached && endedAt === null
    case 'converted':
      return isReached && endedAt !== null
    case 'stopped':
      return goals.some((goal) => goal < enrolledAt) && endedAt !== null
    case 'merged':
      return once > 1 && endedAt !== null && own.some((other) => other !== enrolment && isNoLater(other, enrolment))
    default:
      return false
  }
}

const isNoLater = (a: Enrolment, b: Enrolment): boolean =>
  a.enrolledAt < b.enrolledAt || (a.enrolledAt === b.enrolledAt && a.receivedAt <= b.receivedAt)

const describe = ({ state, enrolledAt, endedAt }: Enrolment): string => `${state} since ${enrolledAt} until ${endedAt}`
