import { type Fault, faultOf } from '../../rules/faults.ts'
import { scanHtml } from '../tracking/scan-html.ts'
import type { Variant, Variants } from './template.ts'

const ALLOWED = ['http', 'https', 'mailto', 'tel']
const SCHEME = /^([a-z][a-z\d+.-]*):/i
const MAX_SHOWN = 50

/** Returns a fault for each part with a link whose scheme is none that people open in a mail or a push message. */
export function checkLinks(variants: Variants, compiled: Record<string, string>): Fault[] {
  return Object.entries(variants).flatMap(([language, variant]) =>
    linksOf(variant, compiled[language]).flatMap(({ part, links }) => {
      const scheme = links.map(schemeOf).find((found) => found !== undefined && !ALLOWED.includes(found))
      if (scheme === undefined) return []
      const value = `${scheme.slice(0, MAX_SHOWN)}:`
      return [faultOf(`variants.${language}.${part}`, 'link_scheme', { value, schemes: ALLOWED.join(', ') })]
    }),
  )
}

function linksOf({ html, mjml, url }: Variant, compiled: string | undefined): { part: string; links: string[] }[] {
  const source = html ?? compiled
  return [
    ...(source === undefined
      ? []
      : [{ part: mjml === undefined ? 'html' : 'mjml', links: scanHtml(source).links.map(({ raw }) => raw) }]),
    ...(url === undefined ? [] : [{ part: 'url', links: [url] }]),
  ]
}

/** As browsers read it: without control characters and line breaks, and with references decoded. */
function schemeOf(raw: string): string | undefined {
  const start = raw
    .slice(0, 1000)
    .replaceAll(/&(?:#x0*([\da-f]{1,6})|#0*(\d{1,7}));?/gi, (_, hex?: string, decimal?: string) => {
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
      return point <= 0x10_ff_ff ? String.fromCodePoint(point) : ''
    })
    .replaceAll(/&colon;/gi, ':')
    .replaceAll(/&(tab|newline);/gi, '')
    .replaceAll(/[\0-\x20]+/g, '')
  return SCHEME.exec(start)?.[1]?.toLowerCase()
}
