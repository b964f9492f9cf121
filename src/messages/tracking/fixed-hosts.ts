/**
 * The hosts that a template itself links to. Other links are not tracked: a value that decides the host would make the
 * tracked address a redirect to anywhere, signed by the business.
 */
import type { TemplateVersion } from '../templates/template.ts'
import { readTarget } from './read-target.ts'
import { scanHtml } from './scan-html.ts'

/** Of the HTML in one language. */
export function fixedHosts({ variants, compiled }: Pick<TemplateVersion, 'variants' | 'compiled'>, language: string) {
  return hostsIn(variants[language]?.html ?? compiled[language] ?? '')
}

const LIQUID = /\{[{%]/
/** A host that is complete before the first value. */
const COMPLETE = /^\s*https?:\/\/[^/?#\s]+[/?#]/i
/** In a text that becomes a link, such as that of an `assign`. */
const LITERAL = /\bhttps?:\/\/[^\s/?#"'<>{}%|,()\\@]+(?=[/?#"'\s<>|,)])/gi

/** Links and texts that are read: more links of a mail are not tracked. */
const MAX = 1000

export function hostsIn(source: string): ReadonlySet<string> {
  const links = scanHtml(source)
    .links.slice(0, MAX)
    .flatMap(({ raw }) => {
      const liquid = raw.search(LIQUID)
      if (liquid < 0) return [raw]
      const start = raw.slice(0, liquid)
      return COMPLETE.test(start) ? [start] : []
    })
  const literals = (source.match(LITERAL) ?? []).slice(0, MAX)
  return new Set([...links, ...literals].flatMap((link) => hostOf(readTarget(link))))
}

const hostOf = (target: string | null): string[] => (target === null ? [] : [new URL(target).host])
