/** Looks up TXT records in the DNS. */
import { Resolver } from 'node:dns/promises'
import { raceAbort } from '../async/race-abort.ts'

const TRY_MS = 1500
/** Time limit for one name, over all tries and servers. */
const NAME_MS = 5000

/** DNS error codes that mean "no such record". */
const NONE = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * Returns the TXT records of a name, each joined from its parts; empty when there are none. Rejects when no server
 * answers in time. `servers`: name servers to use instead of the system's.
 */
export async function resolveTxt(name: string, servers?: readonly string[]): Promise<string[]> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 })
  if (servers !== undefined) resolver.setServers([...servers])
  try {
    const found = await raceAbort(resolver.resolveTxt(name), AbortSignal.timeout(NAME_MS))
    const texts = found.map((parts) => parts.join(''))
    return found.some((parts) => parts.length > 1) ? texts : joinParts(texts)
  } catch (error) {
    if (NONE.has((error as { code?: string }).code ?? '')) return []
    throw error
  }
}

/** Maximum length of one part of a TXT record. */
const PART_BYTES = 255

/** Bun returns each part as a record of its own. If a part is full, the next one is taken for its continuation. */
function joinParts(parts: readonly string[]): string[] {
  const texts: string[] = []
  let isFull = false
  for (const part of parts) {
    if (isFull) texts.push((texts.pop() ?? '') + part)
    else texts.push(part)
    isFull = Buffer.byteLength(part) === PART_BYTES
  }
  return texts
}
