/** How the room of a claim is shared: businesses take turns, and within a business its campaigns do. */

export interface CampaignKey {
  businessId: string
  campaignId: string
}

/** `room`: how many of its enrolments. */
export interface Share extends CampaignKey {
  room: number
}

/** Campaigns that have enrolments due. One that had a turn goes behind the others. */
export interface Rotation {
  businesses: { businessId: string; campaignIds: string[] }[]
}

export function rotationOf(due: readonly CampaignKey[]): Rotation {
  const byBusiness = Map.groupBy(due, ({ businessId }) => businessId)
  return {
    businesses: [...byBusiness].map(([businessId, keys]) => ({
      businessId,
      campaignIds: keys.map(({ campaignId }) => campaignId),
    })),
  }
}

/**
 * Shares out `most` places, one after the other, and turns the rotation as far.
 * @param roomOf the most places of a business
 */
export function shareRoom(rotation: Rotation, most: number, roomOf: (businessId: string) => number): Share[] {
  const shares = new Map<string, Share>()
  const { businesses } = rotation
  const given = new Map<string, number>()
  let left = most
  // Those without room are passed over; when all are, that is all.
  for (let passed = 0; left > 0 && passed < businesses.length;) {
    const business = businesses.shift()
    if (business === undefined) break
    businesses.push(business)
    const { businessId, campaignIds } = business
    const used = given.get(businessId) ?? 0
    if (used >= roomOf(businessId)) {
      passed += 1
      continue
    }
    passed = 0
    left -= 1
    given.set(businessId, used + 1)
    const campaignId = turn(campaignIds)
    const share = shares.get(campaignId) ?? { businessId, campaignId, room: 0 }
    share.room += 1
    shares.set(campaignId, share)
  }
  return [...shares.values()]
}

function turn(campaignIds: string[]): string {
  const first = campaignIds.shift()
  if (first === undefined) throw new Error('a business without campaigns is in the rotation')
  campaignIds.push(first)
  return first
}

/** Takes campaigns out that have no more enrolments due. */
export function dropDone({ businesses }: Rotation, done: readonly CampaignKey[]): Rotation {
  const gone = new Set(done.map(({ campaignId }) => campaignId))
  return {
    businesses: businesses
      .map(({ businessId, campaignIds }) => ({ businessId, campaignIds: campaignIds.filter((id) => !gone.has(id)) }))
      .filter(({ campaignIds }) => campaignIds.length > 0),
  }
}
