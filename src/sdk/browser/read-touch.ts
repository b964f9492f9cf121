/** Describes how the visitor came here, from the landing page's address and the referrer. */
import { cleanUrl } from './clean-url.ts'
import { cutText } from './cut-text.ts'

export interface Touch {
  /** Epoch milliseconds. */
  at: number
  /** Address of the landing page. */
  url: string
  referrer: string | undefined
  /** UTM parameters without the prefix: `source` for `utm_source`. */
  utm: Record<string, string> | undefined
  clickIds: Record<string, string> | undefined
}

/** State when the page was loaded, as the browser reports it. */
export interface Landing {
  at: number
  url: string
  referrer: string
}

const UTM = ['source', 'medium', 'campaign', 'term', 'content', 'id']
const CLICK_IDS = ['gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid']

/** `site`: a domain whose own pages do not count as referrers. */
export function readTouch({ at, url, referrer }: Landing, site: string): Touch {
  const parameters = new URL(url).searchParams
  const pick = (names: string[], prefix: string) => {
    const found = names.map((name) => [name, short(parameters.get(prefix + name) ?? '')] as const)
    const given = found.filter(([, value]) => value)
    return given.length > 0 ? Object.fromEntries(given) : undefined
  }
  return {
    at,
    url: short(cleanUrl(url)),
    referrer: short(outsideReferrer(referrer, site) ?? '') || undefined,
    utm: pick(UTM, 'utm_'),
    clickIds: pick(CLICK_IDS, ''),
  }
}

const short = (text: string) => cutText(text, 512)

/** Returns the cleaned referrer; undefined when there is none or it is on the same site. */
export function outsideReferrer(referrer: string, site: string): string | undefined {
  try {
    const { hostname } = new URL(referrer)
    return hostname === site || hostname.endsWith(`.${site}`) ? undefined : cleanUrl(referrer)
  } catch {
    return undefined
  }
}
