import { type EventTrigger, compileTrigger } from '../../rules/campaigns/event-trigger.ts'
import { type WebTriggerName, compileWebTrigger } from '../../rules/campaigns/web-trigger.ts'
import type { FieldType } from '../../rules/events/facts.ts'
import { type SegmentRule, compileSegments } from '../../rules/segments/compile/compile-segments.ts'
import type { BusinessState, Campaign, Destination, PageIdentify } from '../../rules/business-state.ts'
import type { TopicRules } from '../../rules/topics/topic.ts'
import type { Sql } from '../../stores/postgres.ts'
import { type StoredKeys, compileAwaited, compileKeys } from './campaign-keys.ts'

/** The configuration of businesses, as last read. When a save finds it outdated, the worker drops it. */
export type ConfigCache = Map<string, BusinessState>
const MAX_CACHED_BUSINESSES = 10_000

type StoredCampaign = Omit<Campaign, 'triggerTest' | 'triggerWeb' | 'keyed'> &
  StoredKeys & {
    triggerWeb: WebTriggerName | null
    triggerWhere: EventTrigger['where'] | null
    triggerSources: EventTrigger['sources'] | null
  }

/** Loads the businesses that exist. All loops of a worker share the cache, so it may be emptied at any await. */
export async function loadBusinesses(sql: Sql, cache: ConfigCache, ids: string[]): Promise<BusinessState[]> {
  if (cache.size > MAX_CACHED_BUSINESSES) cache.clear()
  const known = ids.flatMap((id) => cache.get(id) ?? [])
  if (known.length === ids.length) return known
  const missing = ids.filter((id) => !cache.has(id))
  const rows = await sql<
    {
      id: string
      config_version: number
      active: boolean
      fields: Record<string, FieldType> | null
      campaigns: StoredCampaign[] | null
      awaited: string[] | null
      destinations: Destination[] | null
      is_enrolling: boolean
      is_keyed: boolean
      page_identify: PageIdentify
      segment_rules: SegmentRule[] | null
      topics: Record<string, TopicRules> | null
    }[]
  >`
    select b.id, b.config_version, b.page_identify, b.active,
      (select json_object_agg(f.key, f.type) from custom_fields f where f.business_id = b.id) as fields,
      (select json_agg(json_build_object('id', c.id, 'isPaused', c.status = 'paused', 'version', c.version,
          'firstStep', case when v.first_step is not null
            then json_build_object('id', v.first_step, 'listensFor', v.first_listens_for, 'condition', (select w from json_array_elements(v.waits) w where w ->> 'step' = v.first_step limit 1)) end,
          'triggerEvent', c.trigger_event,
          'triggerWhere', c.trigger_where, 'triggerSources', c.trigger_sources,
          'triggerSegment', case when c.trigger_on in ('enter', 'leave')
            then json_build_object('segmentId', c.trigger_segment, 'on', c.trigger_on) end, 'triggerWeb', c.trigger_web,
          'goalEvent', c.goal_event,
          'canEnterAgain', c.can_enter_again, 'enrolPer', c.enrol_per,
          'whileActive', c.while_active, 'goalWhere', c.goal_where, 'goalKey', c.goal_key,
          'publishedAt', floor(extract(epoch from c.published_at) * 1000),
          'waits', (
            select json_agg(w) from campaign_versions v cross join lateral json_array_elements(v.waits) w
            where v.business_id = c.business_id and v.campaign_id = c.id
          ),
          'firstSteps', case when c.while_active = 'restart' then (
            select json_agg(json_build_object('version', v.version, 'id', v.first_step, 'listensFor', v.first_listens_for,
              'condition', (select w from json_array_elements(v.waits) w where w ->> 'step' = v.first_step limit 1)))
            from campaign_versions v
            where v.business_id = c.business_id and v.campaign_id = c.id and v.first_step is not null
          ) end) order by c.published_at, c.id)
        from campaigns c left join campaign_versions v
          on v.business_id = c.business_id and v.campaign_id = c.id and v.version = c.version
        where c.business_id = b.id and c.status in ('published', 'paused')) as campaigns,
      (select json_agg(distinct event)
        from campaigns c join campaign_versions v on v.business_id = c.business_id and v.campaign_id = c.id
        cross join lateral unnest(v.listens_for) as event
        where c.business_id = b.id and c.status in ('published', 'paused')) as awaited,
      exists (select from campaigns c where c.business_id = b.id and c.published_at is not null) as is_enrolling,
      exists (select from campaigns c where c.business_id = b.id and c.published_at is not null and c.enrol_per is not null) as is_keyed,
      (select json_agg(json_build_object('id', d.id, 'types', d.types) order by d.id)
        from destinations d where d.business_id = b.id and d.active) as destinations,
      (select json_agg(json_build_object('no', r.no, 'segmentId', r.segment_id, 'isBuilding', r.state = 'building',
          'rule', r.rule) order by r.no)
        from segment_rules r where r.business_id = b.id and r.state <> 'retired') as segment_rules,
      case when b.has_topics then (
        select json_object_agg(t.key, json_build_object('channels', t.channels, 'defaultOn', t.default_on,
          'isActive', not t.archived))
        from topics t where t.business_id = b.id
      ) end as topics
    from businesses b
    where b.id in (select value::uuid from json_array_elements_text(${JSON.stringify(missing)}::text::json))`
  const read = rows.map((row) => {
    const fields = new Map(Object.entries(row.fields ?? {}))
    const segmentRules = row.segment_rules ?? []
    const campaigns = row.campaigns ?? []
    return {
      id: row.id,
      configVersion: row.config_version,
      active: row.active,
      fields,
      campaigns: campaigns.map(compileCampaign),
      awaited: new Set(row.awaited),
      ...compileAwaited(campaigns),
      isEnrolling: row.is_enrolling,
      isKeyed: row.is_keyed,
      destinations: row.destinations ?? [],
      pageIdentify: row.page_identify,
      topics: new Map(Object.entries(row.topics ?? {})),
      segmentRules,
      segments: segmentRules.length === 0 ? null : compileSegments(segmentRules, fields),
    }
  })
  for (const business of read) cache.set(business.id, business)
  return [...known, ...read]
}

function compileCampaign({ triggerWhere, triggerSources, triggerWeb: name, ...stored }: StoredCampaign): Campaign {
  const conditions = {
    ...(triggerWhere && { where: triggerWhere }),
    ...(triggerSources && { sources: triggerSources }),
  }
  const { campaign, keyed } = compileKeys(stored)
  const triggerWeb = name && { name, test: compileWebTrigger(conditions) }
  const triggerTest = name === null ? compileTrigger(conditions) : null
  return { ...campaign, ...(keyed && { keyed }), triggerTest, triggerWeb }
}
