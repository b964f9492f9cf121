/** What is in the URL of a board. */
export interface BoardSearch {
  /** Opens the settings of the mail. */
  mail?: true | undefined
}

export const readBoard = ({ mail }: Record<string, unknown>): BoardSearch => (mail === true ? { mail } : {})
