/**
 * Measures the minimum cost of a message in Postgres: the rows that remain, written in sets as large as those of a
 * worker.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { readCpu } from '../process-tree.ts'
import type { Bench } from '../bench.ts'
import { fillMailing, insertMailing, setActive } from './fill-campaign.ts'

const SET_SIZE = 64
const VALUES = { contact: { firstName: 'Ann', customFields: {}, email: 'a'.repeat(43) }, links: 'a'.repeat(400) }

/** Returns microseconds of CPU per message. Evaluates no rules, locks nothing beforehand, and renders nothing. */
export async function measureCeiling(bench: Bench, many: number): Promise<number> {
  const { stack } = bench
  const { sql } = stack.own
  const callers = await bench.openCallers({ kind: 'known', prefix: 'ceiling-', people: 1 })
  const businessId = callers.businessIds[0] ?? ''
  await setActive(sql, businessId, false)
  const campaignId = await insertMailing(sql, businessId, { trigger: 'never_sent', channel: 'email' })
  await fillMailing(sql, { businessId, campaignId, many, dueAt: Date.now() })
  const values = JSON.stringify(VALUES)
  await sleep(bench.length(200, 2000))
  const before = readCpu(stack.pids)
  for (let count = 1; count > 0;) {
    // Two commits, as for external providers: a claim before sending and an outcome afterwards.
    const claimed = await sql<{ id: string }[]>`
      with due as materialized (
        select business_id, enrolment_id, contact_id from due_steps
        where business_id = ${businessId} and campaign_id = ${campaignId} and not held order by due_at limit ${SET_SIZE}
      ), gone as (
        delete from due_steps d using due where d.business_id = due.business_id and d.enrolment_id = due.enrolment_id
      ), ended as (
        update enrolments e set state = 'finished', ended_at = 1 from due
        where e.business_id = due.business_id and e.contact_id = due.contact_id and e.id = due.enrolment_id
      )
      insert into messages (business_id, id, campaign_id, enrolment_id, contact_id, step, channel, state, claimed_at, states, template_id)
      select business_id, uuidv7(), ${campaignId}, enrolment_id, contact_id, 'a', 'email', 'claimed', 1, '[]', ${campaignId} from due
      returning id`
    count = claimed.length
    const ids = `{${claimed.map(({ id }) => id).join(',')}}`
    await sql`
      update messages set state = 'sent', sent_at = 1, "values" = ${values}
      where business_id = ${businessId} and id = any (${ids}::uuid[])`
  }
  const after = readCpu(stack.pids)
  return (after.postgres - before.postgres) / many
}
