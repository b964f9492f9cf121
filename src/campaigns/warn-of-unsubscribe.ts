import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import { languagesWithoutUnsubscribe, warnOfUnsubscribe } from '../rules/messages/unsubscribe-link.ts'
import type { Variants } from '../messages/templates/template.ts'
import type { Queryable } from '../stores/postgres.ts'
import type { Campaign } from './campaign.ts'

/** Returns a warning for each step whose marketing mail has no link to unsubscribe. */
export async function warnOfMissingUnsubscribe(
  sql: Queryable,
  businessId: string,
  { steps }: Pick<Campaign, 'steps'>,
): Promise<string[]> {
  const sends = walkSteps(steps).flatMap(({ step, path }) =>
    step.type === 'send' && step.channel === 'email' && step.kind === 'marketing' ? [{ step, path }] : [],
  )
  if (sends.length === 0) return []
  const wanted = [...new Set(sends.map(({ step }) => step.template))]
  const rows = await sql<{ id: string; variants: Variants }[]>`
    select t.id, v.variants
    from templates t join template_versions v
      on v.business_id = t.business_id and v.template_id = t.id and v.version = t.version
    where t.business_id = ${businessId} and t.channel = 'email' and t.id = any (${`{${wanted.join(',')}}`}::uuid[])`
  const languages = new Map(rows.map(({ id, variants }) => [id, languagesWithoutUnsubscribe(variants)]))
  return sends.flatMap(({ step, path }) => {
    const without = languages.get(step.template) ?? []
    return without.length === 0 ? [] : [warnOfUnsubscribe(`${path}.template`, without)]
  })
}
