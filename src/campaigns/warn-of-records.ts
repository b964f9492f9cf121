import { listSenders } from '../messages/channels/channels.ts'
import { walkSteps } from '../rules/campaigns/walk-steps.ts'
import { nearestSender } from '../rules/messages/choose-sender.ts'
import type { Queryable } from '../stores/postgres.ts'
import type { Campaign } from './campaign.ts'
import { findTemplateSenders } from './engine/send/find-senders.ts'

/** Returns a warning for each record that the domain of one of its senders lacks, or has wrong, as it was found last. */
export async function warnOfRecords(
  sql: Queryable,
  businessId: string,
  { steps, senders }: Pick<Campaign, 'steps' | 'senders'>,
): Promise<string[]> {
  const sends = walkSteps(steps).flatMap(({ step }) => (step.type === 'send' && step.channel === 'email' ? [step] : []))
  if (sends.length === 0) return []
  const stored = (await listSenders(sql, businessId)).filter(({ channel }) => channel === 'email')
  const templates = await findTemplateSenders(
    sql,
    sends.map(({ template }) => ({ businessId, templateId: template })),
  )
  const used = new Set(
    sends.map(({ sender, template }) => {
      const key = nearestSender({ step: sender, campaign: senders?.email, template: templates.get(template) })
      return stored.find((one) => one.key === key) ?? stored.find(({ isDefault }) => isDefault)
    }),
  )
  return [...used].flatMap((sender) =>
    (sender?.checked?.findings ?? [])
      .filter(({ state }) => state === 'missing' || state === 'wrong')
      .map(({ record, state, name }) => `sender ${sender?.key}: ${record.toUpperCase()} is ${state} at ${name}`),
  )
}
