/** An opt-out belongs to an address. When the address moves to another contact, the opt-out moves with it. */
import type { Changes } from '../changes.ts'
import type { Channel, IdentityKind } from '../events/facts.ts'
import type { ContactState } from '../state.ts'

const CHANNELS_OF: Record<IdentityKind, readonly Channel[]> = {
  email: ['email'],
  phone: ['sms', 'whatsapp'],
  platformCustomerId: [],
}

/**
 * Copies the opt-outs of this micro-batch when an identity of this kind moves to another contact. The save copies those in
 * Postgres, from the merge log.
 */
export function moveOptOuts(
  { subscriptions }: Changes,
  kind: IdentityKind,
  from: ContactState,
  to: ContactState,
): void {
  for (const channel of CHANNELS_OF[kind]) {
    const existing = from.subscriptions[channel]
    if (existing?.subscribed !== false || to.subscriptions[channel]?.subscribed === false) continue
    const [fromKey, toKey] = [`${from.id} ${channel}`, `${to.id} ${channel}`]
    const [theirs, ours] = [subscriptions.get(fromKey), subscriptions.get(toKey)]
    const was = ours ? ours.was : to.subscriptions[channel]
    to.subscriptions[channel] = existing
    if (theirs) subscriptions.set(toKey, { ...theirs, contactId: to.id, was })
    // An opt-in of the new contact in this micro-batch would overwrite the opt-out that the save copies.
    else subscriptions.delete(toKey)
  }
}
