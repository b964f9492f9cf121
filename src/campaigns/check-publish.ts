/** Finds the faults that prevent the publishing of a campaign (campaigns, "Publish"). */
import type { MessageChannel } from '../rules/messages/message-channel.ts'
import { checkTopics } from '../rules/campaigns/check-topics.ts'
import { checkDefinition } from '../rules/campaigns/check-definition.ts'
import { hasWhere } from '../rules/campaigns/event-condition.ts'
import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import { type Fault, faultOf } from '../rules/faults.ts'
import { type Definitions, loadDefinitions, rulesOf } from '../segments/load-definitions.ts'
import type { Queryable } from '../stores/postgres.ts'
import { type Campaign, isBroadcast } from './campaign.ts'
import { type SendAt, checkSenders } from './check-senders.ts'

type Checked = Pick<Campaign, 'trigger' | 'canEnterAgain' | 'goal' | 'steps' | 'topic' | 'senders'>

/**
 * Call it with the business locked, so that segments and templates are not deleted meanwhile. Empty: it can be
 * published.
 */
export async function checkPublish(
  tx: Queryable,
  businessId: string,
  { trigger, canEnterAgain, goal, steps, topic, senders }: Checked,
  secretsKey: string | undefined,
): Promise<Fault[]> {
  const definitions = await loadDefinitions(tx, businessId)
  const { fields, topics } = definitions
  const rules = { fields, segments: rulesOf(definitions), topics }
  const sends = walkSteps(steps).flatMap(({ step, path }) => (step.type === 'send' ? [{ step, path }] : []))
  return [
    ...checkTrigger({ trigger, goal }, definitions),
    ...checkEntry({ trigger, canEnterAgain }),
    ...checkDefinition({ steps }, { goal, rules }),
    ...checkTopics(topic === undefined ? {} : { topic }, sends, topics),
    ...(await checkTemplates(tx, businessId, sends)),
    ...(await checkSenders(tx, { businessId, senders, secretsKey }, sends)),
  ]
}

function checkTrigger({ trigger, goal }: Pick<Checked, 'trigger' | 'goal'>, { segments }: Definitions): Fault[] {
  if ('event' in trigger) {
    const isSame = goal?.event === trigger.event && !(hasWhere(goal) && hasWhere(trigger))
    return isSame ? [faultOf('goal.event', 'not_the_trigger')] : []
  }
  if ('web' in trigger) return []
  return segments.some(({ id }) => id === trigger.segment) ? [] : [faultOf('trigger.segment', 'segment_of_business')]
}

function checkEntry({ trigger, canEnterAgain }: Pick<Checked, 'trigger' | 'canEnterAgain'>): Fault[] {
  return canEnterAgain && isBroadcast(trigger) ? [faultOf('canEnterAgain', 'once_in_a_broadcast')] : []
}

async function checkTemplates(tx: Queryable, businessId: string, sends: SendAt[]): Promise<Fault[]> {
  if (sends.length === 0) return []
  const wanted = [...new Set(sends.map(({ step }) => step.template))]
  const rows = await tx<{ id: string; channel: MessageChannel; readsData: boolean }[]>`
    select t.id, t.channel, v.reads_data as "readsData"
    from templates t join template_versions v
      on v.business_id = t.business_id and v.template_id = t.id and v.version = t.version
    where t.business_id = ${businessId} and t.id = any (${`{${wanted.join(',')}}`}::uuid[])`
  const templates = new Map(rows.map((row) => [row.id, row]))
  return sends.flatMap(({ step, path }) => {
    const template = templates.get(step.template)
    if (template === undefined) return [faultOf(`${path}.template`, 'template_of_business')]
    const { channel, readsData } = template
    if (channel !== step.channel) return [faultOf(`${path}.template`, 'template_for', { channel })]
    return readsData ? [faultOf(`${path}.template`, 'reads_data')] : []
  })
}
