/** The senders of businesses, as a claim sees them. */
import { type ChannelKey, DEFAULT_SENDER, type SenderKey } from '../../../messages/channels/channels.ts'
import { DEFAULT_PROVIDER } from '../../../messages/channels/providers.ts'
import type { ChannelLimits } from '../../../rules/campaigns/channel-limits.ts'
import { knownZone } from '../../../rules/campaigns/local-time.ts'
import type { SenderState } from '../../../rules/messages/choose-sender.ts'
import type { Queryable } from '../../../stores/postgres.ts'

export interface FoundSender extends SenderState, ChannelLimits, ChannelKey {
  zone: string
  /** When its records were looked up, in epoch milliseconds. Null: never. Undefined: they are not looked up. */
  checkedAt: number | null | undefined
}

interface SenderRow extends Omit<FoundSender, 'zone' | 'checkedAt'> {
  timezone: string
  provider: string
  isCheckWanted: boolean
  checkedAt: string | null
}

/** All senders of these businesses. A channel without any has no entry. */
export async function findSenders(tx: Queryable, businessIds: Iterable<string>): Promise<FoundSender[]> {
  const rows = await tx<SenderRow[]>`
    select c.business_id as "businessId", c.channel, c.key, c.via, c.fallback, c.is_default as "isDefault",
      c.per_second as "perSecond", c.daily_budget as "dailyBudget", c.reserve, b.timezone, c.provider,
      c.paused_at is not null as "isPaused", c.unreachable_at is not null as "isUnreachable",
      c.checked->>'at' as "checkedAt", c.check_wanted as "isCheckWanted"
    from senders c join businesses b on b.id = c.business_id
    where c.business_id = any (${`{${[...new Set(businessIds)].join(',')}}`}::uuid[]) and c.deleted_at is null`
  return [...Map.groupBy(rows, channelName).values()].flatMap(completeChannel)
}

const channelName = ({ businessId, channel }: ChannelKey): string => `${businessId} ${channel}`

/** Adds `default`, if it has no row, and what each sender has of its connection. */
function completeChannel(rows: readonly SenderRow[]): FoundSender[] {
  const [first] = rows
  if (first === undefined) return []
  const isMoved = rows.some(({ isDefault }) => isDefault)
  const all = rows.some(({ key }) => key === DEFAULT_SENDER) ? rows : [...rows, unsetDefault(first)]
  return all.map((row) => {
    const { perSecond, dailyBudget, reserve, isPaused, isUnreachable } = all.find(({ key }) => key === row.via) ?? row
    const { timezone, provider, isCheckWanted, checkedAt, ...own } = row
    const isChecked = row.channel === 'email' && provider !== DEFAULT_PROVIDER.name && !isCheckWanted
    return {
      ...own,
      isDefault: row.isDefault || (!isMoved && row.key === DEFAULT_SENDER),
      zone: knownZone(timezone),
      checkedAt: isChecked ? instantOf(checkedAt) : undefined,
      perSecond,
      dailyBudget,
      reserve,
      isPaused,
      isUnreachable,
    }
  })
}

const instantOf = (at: string | null): number | null => (at === null ? null : Date.parse(at))

const unsetDefault = ({ businessId, channel, timezone }: SenderRow): SenderRow => ({
  businessId,
  channel,
  timezone,
  key: DEFAULT_SENDER,
  via: null,
  fallback: null,
  isDefault: false,
  perSecond: null,
  dailyBudget: null,
  reserve: 0,
  provider: DEFAULT_PROVIDER.name,
  isPaused: false,
  isUnreachable: false,
  isCheckWanted: false,
  checkedAt: null,
})

/** The sender whose connection it takes. */
export const connectionOf = ({ businessId, channel, key, via }: FoundSender): SenderKey => ({
  businessId,
  channel,
  sender: via ?? key,
})

export interface TemplateKey {
  businessId: string
  templateId: string
}

/** The senders that templates name, by the id of the template. */
export async function findTemplateSenders(
  tx: Queryable,
  templates: readonly TemplateKey[],
): Promise<ReadonlyMap<string, string>> {
  const asked = JSON.stringify(
    templates.map(({ businessId, templateId }) => ({ business_id: businessId, id: templateId })),
  )
  const rows = await tx<{ id: string; sender: string }[]>`
    select t.id, t.sender from json_to_recordset(${asked}::text::json) as x (business_id uuid, id uuid)
    join templates t on t.business_id = x.business_id and t.id = x.id
    where t.sender is not null`
  return new Map(rows.map(({ id, sender }) => [id, sender]))
}
