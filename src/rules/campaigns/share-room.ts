/** Shares the room of a claim: businesses take turns, and within a business its campaigns do. */

export interface CampaignKey {
  businessId: string
  campaignId: string
}

/** `room`: number of its enrolments. */
export interface Share extends CampaignKey {
  room: number
}

/** Campaigns with due enrolments. One that had a turn goes behind the others. */
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
 * Shares out `most` places one by one, and turns the rotation accordingly.
 * @param roomOf returns the maximum number of places of a business
 */
export function shareRoom(rotation: Rotation, most: number, roomOf: (businessId: string) => number): Share[] {
  const shares = new Map<string, Share>()
  const { businesses } = rotation
  const given = new Map<string, number>()
  let left = most
  // Businesses without room are skipped. When all are skipped, the sharing ends.
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

/** Removes campaigns that have no more due enrolments. */
export function dropDone({ businesses }: Rotation, done: readonly CampaignKey[]): Rotation {
  const gone = new Set(done.map(({ campaignId }) => campaignId))
  return {
    businesses: businesses
      .map(({ businessId, campaignIds }) => ({ businessId, campaignIds: campaignIds.filter((id) => !gone.has(id)) }))
      .filter(({ campaignIds }) => campaignIds.length > 0),
  }
}
