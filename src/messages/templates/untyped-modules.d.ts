/** Libraries without types: the parts that are used. */
declare module 'mjml' {
  export default function compile(
    source: string,
    options: { validationLevel: 'soft'; ignoreIncludes: true },
  ): Promise<{ html: string; errors: { line: number; message: string }[] }>
}

declare module 'html-to-text' {
  export function convert(
    html: string,
    options: { wordwrap: number | false; selectors: { selector: string; format?: string; options?: object }[] },
  ): string
}
