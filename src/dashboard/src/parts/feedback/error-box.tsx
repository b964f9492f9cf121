/** An error in words, and a way to continue. Renders nothing without an error. */
import { ApiError } from '../../client.ts'
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import styles from './notices.module.css'
import { Icon } from '../value/icon.tsx'
import { IssueText } from '../form/issue-text.tsx'

interface ErrorBoxProps {
  error: Error | null
  /** Replaces the usual text for this kind of error. */
  text?: string | undefined
  onRetry?: () => void
}

export function ErrorBox({ error, text, onRetry }: ErrorBoxProps) {
  if (error === null) return null
  return (
    <div role="alert" className={styles['error']}>
      <Icon name="warn" />
      <div>
        <p>{text ?? describeError(error)}</p>
        {error instanceof ApiError &&
          error.issues.map(({ path, message }) => (
            <p key={path + message} className={styles['detail']}>
              <IssueText path={path} message={message} />
            </p>
          ))}
      </div>
      {onRetry !== undefined && (
        <Button size="small" onClick={onRetry}>
          {textsOf('shell').retry}
        </Button>
      )}
    </div>
  )
}

/** Describes the error in the language of the page. */
export function describeError(error: Error): string {
  const { errors } = textsOf('shell')
  if (!(error instanceof ApiError)) return errors.internal
  return error.code in errors && error.reason === undefined ? errors[error.code as keyof typeof errors] : error.message
}
