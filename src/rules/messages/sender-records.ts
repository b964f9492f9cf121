/** Judges the DNS records of a sender's domain, as the receivers of its mail do. */

/**
 * `wrong`: receivers ignore the record, or treat it as an error. `weak`: it works, but could be stricter. `unknown`: it
 * could not be looked up.
 */
export type RecordState = 'ok' | 'weak' | 'missing' | 'wrong' | 'unknown'

export interface Finding {
  record: 'spf' | 'dkim' | 'dmarc'
  state: RecordState
  /** The name at which the record is, or should be. */
  name: string
  /** The records of this kind at that name. */
  found: string[]
  message: string
  /** The record to publish there; null when nothing has to be done, or only the provider knows the record. */
  publish: string | null
}

/** Null when the records could not be looked up. */
export type TxtRecords = readonly string[] | null

const UNREACHED = 'It could not be looked up. Try again.'

/** RFC 7208. `include`: the domain that lists the servers of the provider; null when unknown. */
export function checkSpf(name: string, records: TxtRecords, include: string | null): Finding {
  const found = (records ?? []).filter((text) => /^v=spf1(\s|$)/i.test(text))
  const expected = `v=spf1 ${include === null ? 'include:THE-SERVERS-OF-YOUR-PROVIDER' : `include:${include}`} ~all`
  const of = (state: RecordState, message: string, publish: string | null = null): Finding => ({
    record: 'spf',
    state,
    name,
    found,
    message,
    publish,
  })
  const [one = '', ...others] = found
  if (records === null) return of('unknown', UNREACHED)
  if (found.length === 0) return of('missing', 'No record says which servers may send for the domain.', expected)
  if (others.length > 0) return of('wrong', 'There is more than one record: receivers ignore all. Join them into one.')
  const terms = one.toLowerCase().split(/\s+/).slice(1)
  if (include !== null && !terms.some((term) => /^\+?include:/.test(term) && term.endsWith(`:${include}`)))
    return of(
      'wrong',
      `The servers of the provider are not in the record. Add include:${include} to it.`,
      withInclude(one, include),
    )
  if (terms.some((term) => /^\+?all$/.test(term)))
    return of('wrong', 'The record lets every server send for the domain. End it with ~all or -all.')
  if (!terms.some((term) => /^([~?-]all|redirect=.+)$/.test(term)))
    return of('weak', 'The record does not end with ~all or -all: other servers are not named as strangers.')
  if (terms.some((term) => term === '?all'))
    return of('weak', 'The record says nothing of other servers. End it with ~all or -all.')
  if (terms.filter((term) => LOOKS_UP.test(term)).length > MAX_LOOKUPS)
    return of('wrong', `The record needs more than ${MAX_LOOKUPS} look-ups: receivers take it for a fault.`)
  return of('ok', 'The record says which servers may send for the domain.')
}

const LOOKS_UP = /^[+~?-]?((include|exists|ptr):|redirect=|(a|mx|ptr)([:/]|$))/
/** RFC 7208, 4.6.4. Look-ups of included records count, too, but are not checked here. */
const MAX_LOOKUPS = 10

/** Inserts the term before the last one, which applies to all other servers. */
function withInclude(record: string, include: string): string {
  const terms = record.split(/\s+/)
  const last = terms.at(-1) ?? ''
  const isEnd = /^[+~?-]?all$|^redirect=/i.test(last)
  return [...(isEnd ? terms.slice(0, -1) : terms), `include:${include}`, isEnd ? last : '~all'].join(' ')
}

/** RFC 6376. Judges one of possibly several selectors. */
export function checkDkim(name: string, records: TxtRecords): Finding {
  const found = joinKeys(records ?? []).filter((text) => tagsOf(text).has('p'))
  const of = (state: RecordState, message: string): Finding => ({
    record: 'dkim',
    state,
    name,
    found,
    message,
    publish: null,
  })
  if (records === null) return of('unknown', UNREACHED)
  const [one, ...others] = found
  if (one === undefined)
    return of('missing', 'There is no public key. Your provider or your mail server gives you the record.')
  if (others.length > 0)
    return of('wrong', 'There is more than one key under this name. Leave the one of your provider.')
  const tags = tagsOf(one)
  const key = tags.get('p') ?? ''
  if (key === '') return of('wrong', 'The key was revoked: it is empty.')
  if ((tags.get('v') ?? 'DKIM1') !== 'DKIM1') return of('wrong', 'The record begins with another version than v=DKIM1.')
  if (!/^[A-Za-z0-9+/=\s]+$/.test(key)) return of('wrong', 'The key is not base64.')
  const isRsa = (tags.get('k') ?? 'rsa') === 'rsa'
  const bytes = Buffer.from(key, 'base64').length
  if (isRsa && bytes < MIN_RSA_BYTES) return of('weak', 'The key has less than 1024 bits: receivers ignore it.')
  return of('ok', 'There is a public key.')
}

/** Joins the parts of keys: a part that does not start a record continues the previous one. */
function joinKeys(parts: readonly string[]): string[] {
  const keys: string[] = []
  for (const part of parts) {
    const before = keys.at(-1)
    const isNext = /^\s*v\s*=/i.test(part) || (/^\s*[kp]\s*=/i.test(part) && tagsOf(before ?? '').has('p'))
    if (before === undefined || isNext) keys.push(part)
    else keys[keys.length - 1] = before + part
  }
  return keys
}

/** Bytes of a key with 1024 bits, as encoded in the record (SubjectPublicKeyInfo). */
const MIN_RSA_BYTES = 140

/** RFC 7489. `name`: where the record was found, which can be a parent of the domain. */
export function checkDmarc(name: string, records: TxtRecords, domain: string): Finding {
  const found = (records ?? []).filter((text) => /^v=DMARC1\s*(;|$)/.test(text))
  const expected = `v=DMARC1; p=none; rua=mailto:dmarc@${domain}`
  const of = (state: RecordState, message: string, publish: string | null = null): Finding => ({
    record: 'dmarc',
    state,
    name,
    found,
    message,
    publish,
  })
  if (records === null) return of('unknown', UNREACHED)
  const [one, ...others] = found
  if (one === undefined)
    return of(
      'missing',
      'No record says what becomes of mail that is not from the domain. Large providers refuse bulk mail without it.',
      expected,
    )
  if (others.length > 0) return of('wrong', 'There is more than one record: receivers ignore all. Leave one.')
  const tags = tagsOf(one)
  const policy = tags.get('p')?.toLowerCase()
  if (policy === undefined || !['none', 'quarantine', 'reject'].includes(policy))
    return of('wrong', 'p must be none, quarantine or reject.', expected)
  if (policy === 'none')
    return of(
      'weak',
      'The record only asks for reports. Read them, and go on to p=quarantine.',
      one.replace(/p\s*=\s*none/i, 'p=quarantine'),
    )
  return of('ok', `Mail that is not from the domain is treated by p=${policy}.`)
}

/** Reads `a=1; b=2`, by lower-case name. */
function tagsOf(text: string): Map<string, string> {
  return new Map(
    text.split(';').flatMap((part) => {
      const at = part.indexOf('=')
      return at < 0 ? [] : [[part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim()] as const]
    }),
  )
}
