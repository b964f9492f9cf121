/** Looks up the DNS records of a sender that receivers of mail look up: SPF, DKIM and DMARC. */
import { domainToASCII } from 'node:url'
import { readMailbox } from '../../rules/messages/mailbox.ts'
import { type Finding, type TxtRecords, checkDkim, checkDmarc, checkSpf } from '../../rules/messages/sender-records.ts'
import type { StoredChannel } from './channels.ts'

/** Returns the texts at a name; empty when there are none. Rejects when the lookup fails. */
export type ResolveTxt = (name: string) => Promise<string[]>

export const MAX_SELECTORS = 10

export interface SenderCheck {
  domain: string
  findings: Finding[]
}

interface ProviderRecords {
  /** Prefix of the domain for the provider's own envelope address; empty for the domain itself. */
  envelope: string
  /** Null: it is not known. */
  include: string | null
  /** Usual selectors. */
  selectors: readonly string[]
}

const UNKNOWN: ProviderRecords = {
  envelope: '',
  include: null,
  selectors: ['default', 'dkim', 'mail', 's1', 's2', 'selector1', 'selector2', 'google', 'k1'],
}
/** Selectors of Postmark and SES differ for each domain. */
const RECORDS = new Map<string, ProviderRecords>([
  ['resend', { envelope: 'send.', include: 'amazonses.com', selectors: ['resend'] }],
  ['postmark', { envelope: '', include: null, selectors: ['pm'] }],
  ['ses', { envelope: '', include: 'amazonses.com', selectors: [] }],
])

/** Null when the channel has no sender with a domain. `selectors` replace the usual ones of the provider. */
export async function checkSender(
  resolveTxt: ResolveTxt,
  { provider, settings }: Pick<StoredChannel, 'provider' | 'settings'>,
  selectors: readonly string[] | undefined,
): Promise<SenderCheck | null> {
  const { sender } = settings
  const address = typeof sender === 'string' ? readMailbox(sender)?.address : undefined
  const domain = domainToASCII(address?.slice(address.lastIndexOf('@') + 1) ?? '').toLowerCase()
  if (domain === '') return null
  const records = RECORDS.get(provider) ?? UNKNOWN
  const read = (name: string): Promise<TxtRecords> => resolveTxt(name).catch(() => null)
  const envelope = `${records.envelope}${domain}`
  const [spf, dkim, dmarc] = await Promise.all([
    read(envelope).then((found) => checkSpf(envelope, found, records.include)),
    findDkim(read, domain, selectors ?? records.selectors),
    findDmarc(read, domain),
  ])
  return { domain, findings: [spf, dkim, dmarc] }
}

type Read = (name: string) => Promise<TxtRecords>

/** Returns the best of the findings. */
async function findDkim(read: Read, domain: string, selectors: readonly string[]): Promise<Finding> {
  const names = selectors.map((selector) => `${selector}._domainkey.${domain}`)
  const found = await Promise.all(names.map(async (name) => checkDkim(name, await read(name))))
  const order = ['ok', 'weak', 'wrong', 'unknown']
  const best = order.flatMap((state) => found.filter((one) => one.state === state))[0]
  if (best !== undefined) return best
  const name = names.length === 1 ? (names[0] ?? '') : `SELECTOR._domainkey.${domain}`
  const tried = names.length === 0 ? '' : ` Looked for: ${selectors.join(', ')}.`
  const state = names.length === 1 ? 'missing' : 'unknown'
  const message = `No public key was found. If your provider uses another selector, send it as selectors.${tried}`
  return { record: 'dkim', state, name, found: [], message, publish: null }
}

/** Returns the record of the domain, or of its nearest parent that has one. */
async function findDmarc(read: Read, domain: string): Promise<Finding> {
  const labels = domain.split('.')
  const domains = labels.slice(0, Math.max(1, labels.length - 1)).map((_, at) => labels.slice(at).join('.'))
  const found = await Promise.all(
    domains.slice(0, MAX_PARENTS).map(async (one) => checkDmarc(`_dmarc.${one}`, await read(`_dmarc.${one}`), domain)),
  )
  const [own] = found
  // A record that could not be looked up may be the one that counts.
  return found.find(({ state }) => state !== 'missing') ?? (own as Finding)
}

const MAX_PARENTS = 5
