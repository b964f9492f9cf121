/** What is in the URL of the reference. */
export interface ReferenceSearch {
  /** `operationId` of the open operation. Without it, the overview is shown. */
  operation?: string
}

export const readReference = ({ operation }: Record<string, unknown>): ReferenceSearch =>
  typeof operation === 'string' ? { operation } : {}
