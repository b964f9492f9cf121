/** Renders the claimed message, and hands it to the provider. */
import { RendererBusy } from '../../../messages/templates/renderer.ts'
import { renderMessage } from '../../../messages/templates/render-message.ts'
import type { MessageValues } from '../../../messages/templates/values.ts'
import { loadMessageKey } from '../../../messages/message-key.ts'
import { inertLinks, linksOf, publicAddress, unsubscribeHeaders } from '../../../messages/public-links.ts'
import type { OutgoingMessage, SendOutcome } from '../../../messages/channels/provider.ts'
import { fixedHosts } from '../../../messages/tracking/fixed-hosts.ts'
import { trackMail } from '../../../messages/tracking/track-mail.ts'
import type { RenderedMessage } from '../../../messages/templates/template.ts'
import { SealError } from '../../../stores/seal-secret.ts'
import type { Attempt } from './attempt.ts'
import type { ClaimedSend } from '../claim/claim-due.ts'
import type { EngineDeps } from '../engine-deps.ts'

/**
 * Never rejects because of the message or its channel. `gather`: called when the message is rendered, or cannot be, and
 * awaited before it is handed over.
 */
export async function sendMessage(
  deps: EngineDeps,
  claimed: ClaimedSend,
  signal: AbortSignal,
  gather?: () => Promise<void>,
): Promise<Attempt> {
  let made: MadeMessage | Attempt['outcome']
  try {
    made = await makeMessage(deps, claimed)
  } finally {
    await gather?.()
  }
  if ('kind' in made) return { outcome: made, provider: null, from: null, rendered: null }
  const { version, values } = made
  const { businessId, since, sender } = claimed
  // Links in the stored rendering have no effect.
  const rendered = { version, values: { ...values, ...inertLinks(deps.config) } }
  try {
    const outgoing = await outgoingOf(deps, claimed, made)
    const key = { businessId, channel: outgoing.channel, sender: sender.sender, since }
    return { ...(await deps.transports.send(key, outgoing, signal)), rendered }
  } catch (error) {
    // An operator has to enter the secrets again.
    if (error instanceof SealError) return { outcome: later(error.message), provider: null, from: null, rendered }
    throw error
  }
}

/** Returns the message as it is handed over. */
async function outgoingOf(
  deps: EngineDeps,
  claimed: ClaimedSend,
  { message, links, hosts }: MadeMessage,
): Promise<OutgoingMessage> {
  const { businessId, contactId, messageId, step, recipient } = claimed
  const sent = await trackIfPublic(deps, claimed, { message, hosts })
  const headers = unsubscribeHeaders(links)
  return { businessId, channel: step.channel, messageId, contactId, to: recipient, headers, message: sent }
}

/** Without PUBLIC_URL, only this machine could follow the links, so a mail then has its own. */
async function trackIfPublic(
  { sql, config }: EngineDeps,
  { businessId, messageId, step, tracking }: ClaimedSend,
  { message, hosts }: Pick<MadeMessage, 'message' | 'hosts'>,
): Promise<RenderedMessage> {
  if (step.channel !== 'email' || config.publicUrl === undefined) return message
  const [address, key] = [publicAddress(config), await loadMessageKey(sql)]
  return trackMail(message, { tracking, address, key, hosts, message: { businessId, messageId } })
}

interface MadeMessage {
  message: RenderedMessage
  version: number
  values: MessageValues
  links: ReturnType<typeof linksOf>
  /** Links to these may be tracked. */
  hosts: ReadonlySet<string>
}

async function makeMessage(
  { sql, renderer, rendering: places, batches, config, now }: EngineDeps,
  { businessId, contactId, enrolmentId, step, topic }: ClaimedSend,
): Promise<MadeMessage | Attempt['outcome']> {
  const [template, facts] = await Promise.all([
    batches.templates.run({ businessId, templateId: step.template }),
    batches.facts.run({ businessId, contactId, enrolmentId }),
  ])
  if (template === null) return { kind: 'template_failed', reason: 'the template was deleted' }
  if (facts === null) return { kind: 'refused', reason: 'the contact was erased' }
  const subscriber = { businessId, contactId, channel: step.channel, ...(topic !== null && { topic }) }
  const links = linksOf(publicAddress(config), await loadMessageKey(sql), subscriber)
  const values: MessageValues = { ...facts, ...links }
  try {
    const wanted = { values, language: facts.contact.language, now: now() }
    const rendering = await places.run(businessId, () => renderMessage(renderer.of(businessId), template, wanted))
    if (rendering.kind === 'failed') return { kind: 'template_failed', reason: rendering.reason }
    const { message } = rendering
    return { message, version: template.version, values, links, hosts: fixedHosts(template, message.language) }
  } catch (error) {
    if (error instanceof RendererBusy) return later(error.message)
    throw error
  }
}

const later = (reason: string): SendOutcome => ({ kind: 'temporary', reason })
