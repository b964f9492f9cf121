/** The examples of docs/analytics.md; `npm run build:dashboard` writes them. */
import examples from './examples.json'

export interface Example {
  /** A heading of the page, such as `Segments`. */
  group: string
  title: string
  statement: string
}

export const EXAMPLES: readonly Example[] = examples
