/** What is in the URL of the custom fields. */
export interface FieldSearch {
  /** Key of the field that is open. */
  field?: string
  /** Also lists hidden fields. */
  hidden?: true
}

export function readFields({ field, hidden }: Record<string, unknown>): FieldSearch {
  return {
    ...((typeof field === 'string' || typeof field === 'number') && field !== '' && { field: String(field) }),
    ...(hidden === true && { hidden }),
  }
}
