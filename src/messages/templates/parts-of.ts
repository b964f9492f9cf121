import type { Part } from './jobs.ts'
import type { TemplateVersion, Variant } from './template.ts'

/** The parts of a variant that are separate templates. `compiled`: the HTML of its MJML. */
export function partsOf(variant: Variant, compiled: string | undefined): Part[] {
  const { subject, html = compiled, text, title, body, url, parameters = [] } = variant
  const plain = { subject, text, title, body, url }
  const parts = Object.entries(plain).flatMap(([name, source]) =>
    source === undefined ? [] : [{ name, source, isHtml: false }],
  )
  return [
    ...parts,
    ...(html === undefined ? [] : [{ name: 'html', source: html, isHtml: true }]),
    ...parameters.map((source, index) => ({ name: parameterName(index), source, isHtml: false })),
  ]
}

export const parameterName = (index: number): string => `parameters[${index}]`

/** The same key means the same parts. */
export const keyOf = ({ templateId, version }: TemplateVersion, language: string): string =>
  `${templateId}/${version}/${language}`
