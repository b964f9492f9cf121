/**
 * The rule as JSON, to be copied, pasted and edited. The server checks it in the same way as a rule from the builder.
 */
import { useState } from 'react'
import { Copy } from '../../../parts/value/code.tsx'
import { TextAreaField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import { IssueText } from '../../../parts/form/issue-text.tsx'
import styles from '../../rules/edit/rule-editor.module.css'

interface JsonViewProps {
  rule: unknown
  /** The server's issues. */
  issues: readonly { path: string; message: string }[]
  onChange: (rule: unknown) => void
}

export function JsonView({ rule, issues, onChange }: JsonViewProps) {
  const texts = textsOf('segments')
  const [typed, setTyped] = useState(() => JSON.stringify(rule, null, 2))
  const { value, fault } = readJson(typed)
  // The rule was changed elsewhere, for example because the draft was discarded.
  const isOther = fault === undefined && JSON.stringify(value) !== JSON.stringify(rule)
  const shown = isOther ? JSON.stringify(rule, null, 2) : typed
  const problem = fault === undefined ? undefined : `${texts.jsonInvalid} ${fault}`
  return (
    <div className={styles['json']}>
      <TextAreaField
        name="rule"
        label={texts.jsonLabel}
        hint={texts.jsonHint}
        rows={16}
        dir="ltr"
        spellCheck={false}
        value={shown}
        error={problem}
        onChange={({ target: { value: text } }) => {
          setTyped(text)
          const next = readJson(text)
          if (next.fault === undefined) onChange(next.value)
        }}
      />
      <div className="row">
        <Copy what={shown} />
      </div>
      {issues.length > 0 && (
        <ul className={styles['issues']} role="alert">
          {issues.map(({ path, message }) => (
            <li key={path + message}>
              <IssueText path={path} message={message} />
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function readJson(text: string): { value?: unknown; fault?: string } {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}
