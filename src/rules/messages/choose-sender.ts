/** Which of a channel's senders a message takes. */

/** A sender as a claim finds it. */
export interface SenderState {
  key: string
  /** The sender whose connection it uses. */
  via: string | null
  fallback: string | null
  isDefault: boolean
  /** Of its connection. */
  isPaused: boolean
  /** Of its connection. */
  isUnreachable: boolean
}

/** What can name a sender. The nearest to the message counts. */
export interface NamedSenders {
  step?: string | undefined
  campaign?: string | undefined
  template?: string | undefined
}

export const nearestSender = ({ step, campaign, template }: NamedSenders): string | undefined =>
  step ?? campaign ?? template

/** The sender that is named; the channel's default when none is, or when it is gone. */
export function findNamed<State extends SenderState>(
  senders: readonly State[],
  named: string | undefined,
): State | undefined {
  return senders.find(({ key }) => key === named) ?? senders.find(({ isDefault }) => isDefault)
}

/**
 * The fallback that takes the messages of a sender. Undefined: its messages are its own. `mayTry`: the message tries an
 * unreachable sender nevertheless. An unreachable sender is tried while its fallback is paused, because a pause may last.
 */
export function fallbackOf<State extends SenderState>(
  senders: readonly State[],
  named: State,
  mayTry: boolean,
): State | undefined {
  if (!named.isPaused && (!named.isUnreachable || mayTry)) return undefined
  const fallback = senders.find(({ key }) => key === named.fallback)
  return fallback?.isPaused === true && !named.isPaused ? undefined : fallback
}

/** How often a message tries a sender that is unreachable, in milliseconds. */
export const TRY_MS = 60_000
