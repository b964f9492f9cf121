/**
 * The rule as JSON, to be copied, pasted and edited. The server checks it in the same way as a rule from the builder.
 */
import { IssueText } from '../../../parts/form/issue-text.tsx'
import { JsonView } from '../../../parts/form/json-view.tsx'
import { textsOf } from '../../../texts/index.ts'
import styles from '../../rules/edit/rule-editor.module.css'

interface RuleJsonProps {
  rule: unknown
  /** The server's issues. */
  issues: readonly { path: string; message: string }[]
  onChange: (rule: unknown) => void
}

export function RuleJson({ rule, issues, onChange }: RuleJsonProps) {
  const texts = textsOf('segments')
  return (
    <div className={styles['json']}>
      <JsonView
        name="rule"
        label={texts.jsonLabel}
        hint={texts.jsonHint}
        rows={16}
        value={rule}
        invalid={texts.jsonInvalid}
        onChange={onChange}
      />
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
