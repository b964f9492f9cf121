/** Checks a sender that uses the connection of another one: it has addresses alone. */
import { faultOf } from '../../rules/faults.ts'
import { formerToKeep } from '../callbacks/former-provider.ts'
import { type SenderKey, type StoredChannel, loadSender } from './channels.ts'
import { type SentSettings, readSettings } from './read-settings.ts'
import type { PreparedSender, SaveDeps, SaveOutcome } from './save-channel.ts'
import { fromSetting } from './sender-address.ts'

export async function prepareVia(
  { sql, now }: Pick<SaveDeps, 'sql' | 'now'>,
  { via, ...key }: SenderKey & { via: string },
  before: StoredChannel,
  { provider: _, ...sent }: SentSettings,
): Promise<PreparedSender | Extract<SaveOutcome, { kind: 'faults' }>> {
  const setting = fromSetting(key.channel) ?? ''
  const given = Object.keys(sent).filter((name) => sent[name] !== undefined && sent[name] !== null)
  const others = given.filter((name) => name !== setting && name !== 'replyTo' && sent[name] !== 0)
  if (others.length > 0) return { kind: 'faults', faults: others.map((name) => faultOf(name, 'not_with_via')) }
  const base = via === key.sender ? null : await loadSender(sql, { ...key, sender: via })
  const hasAddress = base !== null && base.via === null && Object.hasOwn(base.settings, setting)
  if (!hasAddress) return { kind: 'faults', faults: [faultOf('via', 'via_own')] }
  if (!given.includes(setting)) return { kind: 'faults', faults: [faultOf('from', 'required')] }
  const { replyTo: __, ...connection } = base.settings
  const read = readSettings(key.channel, { ...connection, ...sent, provider: base.provider })
  if ('faults' in read) return { kind: 'faults', ...read }
  const faults = read.provider.check(read.settings, [
    ...base.secretNames,
    ...Object.keys(read.provider.secrets.properties),
  ])
  const own = faults.filter(({ path }) => path === setting || path === 'replyTo')
  if (own.length > 0) return { kind: 'faults', faults: own }
  const settings = Object.fromEntries(
    [setting, 'replyTo'].flatMap((name) => (read.settings[name] === undefined ? [] : [[name, read.settings[name]]])),
  )
  const instant = now()
  return {
    kind: 'prepared',
    next: {
      via,
      fallback: before.fallback,
      provider: base.provider,
      settings,
      secret: null,
      secretNames: [],
      perSecond: null,
      dailyBudget: null,
      reserve: 0,
      former: before.via === null ? formerToKeep(before, { isSame: false, next: read, now: instant }) : before.former,
      callbackSource: null,
    },
    details: { provider: base.provider, changed: given },
    now: instant,
  }
}
