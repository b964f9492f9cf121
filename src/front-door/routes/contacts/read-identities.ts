/** Reads the addresses of an edit. */
import type { EditFact } from '../../../rules/events/facts.ts'
import { sanitiseText, trimText } from '../../../rules/events/text.ts'
import { type Fault, faultOf, moveFault } from '../../../rules/faults.ts'
import { PRIMARY_FIELDS } from '../../../rules/identity/edit-identities.ts'
import { readIdentity } from '../../../rules/identity/identity.ts'
import { ADDRESS_KINDS, type AddressKind } from '../../../rules/identity/make-primary.ts'
import { isRecord } from '../../../rules/is-record.ts'

interface SentIdentities {
  primaryEmail?: string
  primaryPhone?: string
  removeIdentities?: { email?: string[]; phone?: string[] }
}

/** Normalises the addresses as `identify` does. `country`: that of the business. */
export function readIdentities(
  { removeIdentities, ...sent }: SentIdentities,
  country: string | null,
): { fact: Pick<EditFact, 'primary' | 'removed'>; faults: Fault[] } {
  const faults: Fault[] = []
  const read = (kind: AddressKind, text: string, path: string, storedAs: string[] = []): string[] => {
    const result = readIdentity({ [kind]: text }, country)
    const value = result.identity?.[kind]
    if (value !== undefined) return [...new Set([...storedAs, value])]
    // What is a placeholder now may have been stored before.
    if (storedAs.length > 0 && result.faults.length === 0) return storedAs
    const [fault = faultOf(path, 'not_an_identity')] = result.faults
    faults.push(moveFault(fault, path))
    return []
  }
  const primary: EditFact['primary'] = {}
  const removed: EditFact['removed'] = {}
  for (const kind of ADDRESS_KINDS) {
    const text = kind === 'email' ? sent.primaryEmail : sent.primaryPhone
    const [value] = text === undefined ? [] : read(kind, text, PRIMARY_FIELDS[kind])
    if (value !== undefined) primary[kind] = value
    const values = removeIdentities?.[kind]?.map((one, at) =>
      read(kind, one, `removeIdentities.${kind}.${at}`, spellingsOf(one)),
    )
    if (values && values.length > 0) removed[kind] = values
  }
  const fact = {
    ...(Object.keys(primary).length > 0 && { primary }),
    ...(Object.keys(removed).length > 0 && { removed }),
  }
  return { fact, faults }
}

/**
 * Returns a fault for each unknown field of `removeIdentities` as it was sent. Unlike others, it is not ignored: the
 * caller would believe that the person's data is removed.
 */
export function unknownRemovals(sent: unknown): Fault[] {
  if (!isRecord(sent)) return []
  return Object.keys(sent)
    .filter((name) => !KNOWN.has(name) && sent[name] !== undefined && sent[name] !== null)
    .slice(0, MAX_FAULTS)
    .map((name) => {
      const path = `removeIdentities.${sanitiseText(name.slice(0, MAX_NAME)).text}`
      if (name === 'platformCustomerId') return faultOf(path, 'customer_id_stays')
      return faultOf(path, 'unknown_field', { fields: ADDRESS_KINDS.join(', ') })
    })
}

const KNOWN: ReadonlySet<string> = new Set(ADDRESS_KINDS)
/** Limits of the answer to a hostile body. */
const MAX_FAULTS = 20
const MAX_NAME = 100

/** An address may have been stored by other rules, or without a country: as it was sent, or as it is shown. */
function spellingsOf(text: string): string[] {
  const trimmed = trimText(text).toLowerCase()
  return [...new Set([trimmed, trimmed.replace(/^\+/, '')])].filter((spelling) => spelling !== '')
}
