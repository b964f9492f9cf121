/** How the visitor came here, by the landing page's address and the referrer. */
import { cleanUrl } from './clean-url.ts'
import { cutText } from './cut-text.ts'

export interface Touch {
  /** Epoch ms. */
  at: number
  /** The landing page. */
  url: string
  referrer: string | undefined
  /** `utm_source` is `source`. */
  utm: Record<string, string> | undefined
  clickIds: Record<string, string> | undefined
}

/** What was there when the page was loaded, as the browser says it. */
export interface Landing {
  at: number
  url: string
  referrer: string
}

const UTM = ['source', 'medium', 'campaign', 'term', 'content', 'id']
const CLICK_IDS = ['gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid']

/** `site` is the domain whose own pages are no referrers. */
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

/** The cleaned referrer, unless it is a page of the same site or none. */
export function outsideReferrer(referrer: string, site: string): string | undefined {
  try {
    const { hostname } = new URL(referrer)
    return hostname === site || hostname.endsWith(`.${site}`) ? undefined : cleanUrl(referrer)
  } catch {
    return undefined
  }
}
