/** Renders the claimed message of a call, and hands it to the provider. */
import type { Attempt } from '../../campaigns/engine/send/attempt.ts'
import type { OutgoingMessage, SendOutcome } from '../../messages/channels/provider.ts'
import { loadMessageKey } from '../../messages/message-key.ts'
import { inertLinks, linksOf, publicAddress } from '../../messages/public-links.ts'
import { renderMessage } from '../../messages/templates/render-message.ts'
import { RendererBusy } from '../../messages/templates/renderer.ts'
import type { RenderedMessage, TemplateVersion } from '../../messages/templates/template.ts'
import type { MessageValues } from '../../messages/templates/values.ts'
import { fixedHosts } from '../../messages/tracking/fixed-hosts.ts'
import { trackMail } from '../../messages/tracking/track-mail.ts'
import { SealError } from '../../stores/seal-secret.ts'
import type { CallEngineDeps } from './call-engine-deps.ts'
import type { ClaimedCall } from './claim-calls.ts'
import { type LoadedCall, loadCall } from './load-call.ts'

/** Never rejects because of the message or its channel. */
export async function sendCall(deps: CallEngineDeps, call: ClaimedCall, signal: AbortSignal): Promise<Attempt> {
  const loaded = await loadCall(deps.sql, call)
  if (loaded === null) return unmade({ kind: 'refused', reason: 'the person was erased', blame: 'recipient' })
  if (loaded.template === null) return unmade({ kind: 'template_failed', reason: 'the template was deleted' })
  const made = await makeMessage(deps, call, { ...loaded, template: loaded.template })
  if ('kind' in made) return unmade(made)
  const { businessId, channel, sender, since } = call
  const { rendered } = made
  try {
    const outgoing = await outgoingOf(deps, call, { ...loaded, ...made })
    return {
      ...(await deps.transports.send({ businessId, channel, sender: sender.sender, since }, outgoing, signal)),
      rendered,
    }
  } catch (error) {
    // An operator has to enter the secrets again.
    if (error instanceof SealError) return { outcome: later(error.message), provider: null, from: null, rendered }
    throw error
  }
}

const unmade = (outcome: Attempt['outcome']): Attempt => ({ outcome, provider: null, from: null, rendered: null })
const later = (reason: string): SendOutcome => ({ kind: 'temporary', reason })

interface MadeMessage {
  message: RenderedMessage
  rendered: NonNullable<Attempt['rendered']>
  /** Links to these may be tracked. */
  hosts: ReadonlySet<string>
}

async function makeMessage(
  { sql, renderer, rendering: places, config, now }: CallEngineDeps,
  { businessId, contactId, channel, options }: ClaimedCall,
  { template, values: loaded }: LoadedCall & { template: TemplateVersion },
): Promise<MadeMessage | Attempt['outcome']> {
  const { language } = options
  const known = { ...loaded, language }
  const key = await loadMessageKey(sql)
  const links = contactId === null ? NO_LINKS : linksOf(publicAddress(config), key, { businessId, contactId, channel })
  const values: MessageValues = { ...known, ...links }
  try {
    const wanted = { values, language, now: now() }
    const made = await places.run(businessId, () => renderMessage(renderer.of(businessId), template, wanted))
    if (made.kind === 'failed') return { kind: 'template_failed', reason: made.reason }
    const { message } = made
    // Links in the stored rendering have no effect.
    const stored = { ...known, ...(contactId === null ? NO_LINKS : inertLinks(config)) }
    const rendered = { version: template.version, values: stored }
    return { message, rendered, hosts: fixedHosts(template, message.language) }
  } catch (error) {
    if (error instanceof RendererBusy) return later(error.message)
    throw error
  }
}

/** Without a contact there is nothing to unsubscribe from. */
const NO_LINKS = { unsubscribeUrl: '', preferencesUrl: '' }

async function outgoingOf(
  { sql, config }: CallEngineDeps,
  { businessId, messageId, contactId, channel, recipient, options }: ClaimedCall,
  { message, hosts, attachments }: Pick<MadeMessage, 'message' | 'hosts'> & Pick<LoadedCall, 'attachments'>,
): Promise<OutgoingMessage> {
  const { tracking, replyTo } = options
  // Without PUBLIC_URL, only this machine could follow the links.
  const isTracked = channel === 'email' && config.publicUrl !== undefined && contactId !== null
  const tracked = { businessId, messageId }
  const sent = isTracked
    ? trackMail(message, {
        tracking,
        address: publicAddress(config),
        key: await loadMessageKey(sql),
        hosts,
        message: tracked,
      })
    : message
  return {
    businessId,
    channel,
    messageId,
    contactId,
    to: recipient,
    message: sent,
    ...(replyTo !== null && { replyTo }),
    ...(attachments.length > 0 && { attachments }),
  }
}
