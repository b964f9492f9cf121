/** Conditions on the properties of an event. A condition counts once it is complete. */
import { MAX_WHERE } from '../../../../rules/segments/grammar/limits.ts'
import { useEffect, useState } from 'react'
import { Button } from '../../parts/action/button.tsx'
import { textsOf } from '../../texts/index.ts'
import { PropertyRow } from '../rules/edit/event-fields.tsx'
import type { Draft } from '../rules/condition.ts'
import type { PlacedIssue } from '../rules/place-issues.ts'
import { isCompleteWhere } from '../rules/value.ts'
import styles from './analytics.module.css'
import type { Where } from './search.ts'

interface WhereFieldsProps {
  where: Where
  /** Issues of the current query, by the path of the condition: `where[0].value`. */
  issues: readonly PlacedIssue[]
  onChange: (where: Where) => void
}

const DELAY_MS = 400
const FIRST: Draft = { property: '', operator: 'equals', value: '' }

export function WhereFields({ where, issues, onChange }: WhereFieldsProps) {
  const texts = textsOf('segments')
  const given = JSON.stringify(where)
  const [drafts, setDrafts] = useState<Draft[]>(where)
  const [known, setKnown] = useState(given)
  const complete = drafts.filter(isCompleteWhere)
  const meant = JSON.stringify(complete)
  if (known !== given) {
    setKnown(given)
    // Incomplete conditions stay, unless the URL has changed to other conditions.
    if (meant !== given) setDrafts(where)
  }
  useEffect(() => {
    if (meant === given) return
    const timer = setTimeout(() => onChange(complete), DELAY_MS)
    return () => clearTimeout(timer)
  })
  return (
    <div className={styles['where']}>
      {drafts.map((one, at) => (
        <PropertyRow
          key={at}
          condition={one}
          issues={issues}
          path={`where[${complete.indexOf(one)}]`}
          onChange={(next) => setDrafts(drafts.with(at, next))}
          onRemove={() => setDrafts(drafts.toSpliced(at, 1))}
        />
      ))}
      {drafts.length < MAX_WHERE && (
        <div>
          <Button kind="quiet" size="small" icon="plus" onClick={() => setDrafts([...drafts, FIRST])}>
            {texts.addWhere}
          </Button>
        </div>
      )}
    </div>
  )
}
