/** Reads the request headers for content negotiation: If-None-Match, Accept-Encoding and Accept-Language (RFC 9110). */

/** Returns whether an If-None-Match header matches the ETag. */
export function matchesEtag(header: string | null, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim())
  return tags.some((tag) => tag === '*' || tag.replace('W/', '') === etag.replace('W/', ''))
}

/** Returns whether an Accept-Encoding header names the coding with a weight above 0. */
export function acceptsEncoding(header: string | null, coding: string): boolean {
  return weigh(header).some(({ name, weight }) => name === coding && weight > 0)
}

/** Returns the known language that an Accept-Language header prefers; null when it names none of them. */
export function preferredLanguage<Known extends string>(header: string | null, known: readonly Known[]): Known | null {
  const wanted = weigh(header)
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)
  for (const { name } of wanted) {
    const found = known.find((one) => name === one || name.startsWith(`${one}-`))
    if (found !== undefined) return found
  }
  return null
}

function weigh(header: string | null): { name: string; weight: number }[] {
  return (header ?? '').split(',').map((part) => {
    const [name = '', weight = '1'] = part.trim().split(/\s*;\s*q=/i)
    return { name: name.toLowerCase(), weight: Number(weight) }
  })
}
