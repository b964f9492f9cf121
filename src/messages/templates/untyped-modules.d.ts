/** Libraries without types: the parts that are used. */
declare module 'mjml' {
  export default function compile(
    source: string,
    options: { validationLevel: 'soft'; ignoreIncludes: true },
  ): Promise<{ html: string; errors: { line: number; message: string }[] }>
}

declare module 'html-to-text' {
  export interface Element {
    name: string
    attribs?: Record<string, string>
    parent: Element | null
    children: Element[]
  }
  export interface Builder {
    openBlock(options: { leadingLineBreaks: number }): void
    closeBlock(options: { trailingLineBreaks: number }): void
    addInline(text: string): void
  }
  export type Walk = (elements: Element[], builder: Builder) => void
  export function convert(
    html: string,
    options: {
      wordwrap: number | false
      limits: { maxDepth: number; ellipsis: string }
      formatters: Record<string, (element: Element, walk: Walk, builder: Builder) => void>
      selectors: { selector: string; format?: string; options?: object }[]
    },
  ): string
}
