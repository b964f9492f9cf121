/** The statement that a person is writing. It is kept while the tab is open, across reloads and other pages. */
import { useState } from 'react'

export interface Draft {
  statement: string
  /** Values of the parameters by name. */
  values: Record<string, string>
  /** ID of the saved query that it began as. */
  savedId?: string | undefined
}

const keyOf = (businessId: string) => `sluice.sql.${businessId}`

export function useDraft(businessId: string, first: string): [Draft, (change: Partial<Draft>) => void] {
  const [draft, setDraft] = useState<Draft>(() => readDraft(businessId) ?? { statement: first, values: {} })
  const change = (part: Partial<Draft>) =>
    setDraft((before) => {
      const next = { ...before, ...part }
      sessionStorage.setItem(keyOf(businessId), JSON.stringify(next))
      return next
    })
  return [draft, change]
}

function readDraft(businessId: string): Draft | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(businessId)) ?? 'null') as Draft | null
  } catch {
    return null
  }
}
