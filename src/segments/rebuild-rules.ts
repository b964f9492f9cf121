import { resolveRule } from '../rules/segments/resolve-rule.ts'
import type { Queryable } from '../stores/postgres.ts'
import { type Definitions, loadDefinitions, rulesOf } from './load-definitions.ts'

/**
 * Makes the rules that saves evaluate match the definitions of the business, its default currency and its country. A
 * rule that differs from the one in force is built beside it, and replaces a rule that was being built before. Rules
 * that name an edited segment follow. Call it in the transaction of the change, after `lockBusiness`. Equal definitions
 * change nothing.
 */
export async function rebuildRules(tx: Queryable, businessId: string): Promise<void> {
  const wanted = toWanted(await loadDefinitions(tx, businessId))
  const retired = await retireOvertaken(tx, businessId, wanted)
  const begun = await beginMissing(tx, businessId, wanted)
  await tx`
    update segment_rules r set version = w.version from ${recordsOf(tx, wanted)}
    where r.business_id = ${businessId} and r.segment_id = w.segment_id and r.state <> 'retired' and r.rule = w.rule
      and r.version <> w.version`
  if (retired + begun > 0) {
    // Saves that were decided with the former rules are decided again.
    await tx`update businesses set config_version = config_version + 1 where id = ${businessId}`
  }
  if (begun > 0) await restartPass(tx, businessId)
}

/** Returns a JSON array with the wanted rule of each segment. */
function toWanted(definitions: Definitions): string {
  const { segments, currency, country, topics } = definitions
  const context = { segments: rulesOf(definitions), currency, country, topics }
  const wanted = segments.map(({ id, version, rule }) => ({
    segment_id: id,
    version,
    rule: resolveRule(rule, context),
  }))
  return JSON.stringify(wanted)
}

const recordsOf = (tx: Queryable, wanted: string) =>
  tx`json_to_recordset(${wanted}::text::json) as w (segment_id uuid, version integer, rule jsonb)`

/** Stops building rules of earlier definitions, also when the definition of the rule in force has come back. */
async function retireOvertaken(tx: Queryable, businessId: string, wanted: string): Promise<number> {
  const { count } = await tx`
    update segment_rules r set state = 'retired' from ${recordsOf(tx, wanted)}
    where r.business_id = ${businessId} and r.segment_id = w.segment_id and r.state = 'building'
      and (r.rule <> w.rule or exists (
        select from segment_rules c
        where c.business_id = r.business_id and c.segment_id = r.segment_id and c.state = 'current' and c.rule = w.rule
      ))`
  return count
}

async function beginMissing(tx: Queryable, businessId: string, wanted: string): Promise<number> {
  const { count } = await tx`
    insert into segment_rules (business_id, no, segment_id, version, rule, state)
    select ${businessId}, nextval('segment_rule_numbers'), w.segment_id, w.version, w.rule, 'building'
    from ${recordsOf(tx, wanted)}
    where not exists (
      select from segment_rules r
      where r.business_id = ${businessId} and r.segment_id = w.segment_id and r.state <> 'retired' and r.rule = w.rule
    )`
  return count
}

/** The pass over the contacts of the business starts again, with all rules that are being built. */
async function restartPass(tx: Queryable, businessId: string): Promise<void> {
  const [plan] = await tx<[{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }]>`
    explain (format json) select from contacts where business_id = ${businessId} and merged_into is null`
  const total = plan['QUERY PLAN'][0].Plan['Plan Rows']
  await tx`
    insert into segment_builds (business_id, epoch, total) values (${businessId}, nextval('segment_rule_numbers'), ${total})
    on conflict (business_id) do update set
      epoch = excluded.epoch, cursor = null, done = 0, total = excluded.total, requested_at = now()`
}
