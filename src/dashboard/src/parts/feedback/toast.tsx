/** A short message after an action. Errors that belong to a form or a page go to ErrorBox instead. */
import { createStore, useStore } from '../../store.ts'
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import { describeError } from './error-box.tsx'
import { Icon } from '../value/icon.tsx'
import styles from './toast.module.css'

interface Toast {
  id: number
  text: string
  kind: 'good' | 'bad'
  action?: { label: string; run: () => void } | undefined
}

const SHOWN_MS = 6000
const toasts = createStore<readonly Toast[]>([])
let last = 0

export function showToast(text: string, { kind = 'good', action }: Partial<Pick<Toast, 'kind' | 'action'>> = {}): void {
  const id = (last += 1)
  toasts.set([...toasts.get().slice(-2), { id, text, kind, action }])
  // An error stays until a person closes it.
  if (kind === 'good') setTimeout(() => dismiss(id), SHOWN_MS)
}

export const showError = (error: Error): void => showToast(describeError(error), { kind: 'bad' })

const dismiss = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id))

/** Render this once per page. */
export function Toasts() {
  const texts = textsOf('shell')
  return (
    <div role="status" aria-live="polite" aria-label={texts.messages} className={styles['toasts']}>
      {useStore(toasts).map(({ id, text, kind, action }) => (
        <div key={id} className={`${styles['toast']} ${styles[kind]}`}>
          <Icon name={kind === 'good' ? 'check' : 'warn'} />
          <span>{text}</span>
          {action !== undefined && (
            <Button
              size="small"
              onClick={() => {
                action.run()
                dismiss(id)
              }}
            >
              {action.label}
            </Button>
          )}
          <Button kind="quiet" size="small" icon="close" aria-label={texts.close} onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  )
}
