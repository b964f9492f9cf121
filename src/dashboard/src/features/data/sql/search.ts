/** What is in the URL of the SQL page. */
export interface SqlSearch {
  /** ID of a saved query. */
  query?: string | undefined
}

export const readSql = ({ query }: Record<string, unknown>): SqlSearch => (typeof query === 'string' ? { query } : {})
