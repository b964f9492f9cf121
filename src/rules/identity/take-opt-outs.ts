/** An opt-out is about an address: where the address goes, the opt-out goes along. */
import type { Changes } from '../changes.ts'
import type { Channel, IdentityKind } from '../events/facts.ts'
import type { ContactState } from '../state.ts'

const CHANNELS_OF: Record<IdentityKind, readonly Channel[]> = {
  email: ['email'],
  phone: ['sms', 'whatsapp'],
  platformCustomerId: [],
}

/**
 * An identity of this kind moves from one contact to the other. The save copies the opt-outs that Postgres has, from the
 * merge log; those of this micro-batch are copied here.
 */
export function takeOptOuts(
  { subscriptions }: Changes,
  kind: IdentityKind,
  from: ContactState,
  to: ContactState,
): void {
  for (const channel of CHANNELS_OF[kind]) {
    const held = from.subscriptions[channel]
    if (held?.subscribed !== false || to.subscriptions[channel]?.subscribed === false) continue
    const [fromKey, toKey] = [`${from.id} ${channel}`, `${to.id} ${channel}`]
    const [theirs, ours] = [subscriptions.get(fromKey), subscriptions.get(toKey)]
    const was = ours ? ours.was : to.subscriptions[channel]
    to.subscriptions[channel] = held
    if (theirs) subscriptions.set(toKey, { ...theirs, contactId: to.id, was })
    // Its own opt-in of this micro-batch would be written after the opt-out that Postgres has.
    else subscriptions.delete(toKey)
  }
}
