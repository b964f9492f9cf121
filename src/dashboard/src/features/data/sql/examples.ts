/** The examples from docs/analytics.md. `npm run build:dashboard` writes them. */
import examples from './examples.json'

export interface Example {
  /** Heading in the document, such as `Segments`. */
  group: string
  title: string
  statement: string
}

export const EXAMPLES: readonly Example[] = examples
