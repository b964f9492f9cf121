/** What is in the URL of an editor whose content can also be written as JSON. */
export interface EditorSearch {
  /** Default: the form. */
  view?: 'json'
}

export const readEditor = ({ view }: Record<string, unknown>): EditorSearch => (view === 'json' ? { view } : {})
