/** The statement that a person is writing. It is kept while the tab is open, across reloads and other pages. */
export interface SqlDraft {
  statement: string
  /** Values of the parameters by name. */
  values: Record<string, string>
  /** ID of the saved query that it began as. */
  savedId?: string | undefined
}
