/** A native modal dialog. It takes the focus, closes on Escape, and returns the focus. */
import { type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import styles from './dialog.module.css'

interface DialogProps {
  title: string
  onClose: () => void
  children: ReactNode
  /** Buttons. The one that continues comes last. */
  footer?: ReactNode
  size?: 'normal' | 'wide'
  /** Only the buttons of the footer close it: for what is shown only once. */
  isKept?: boolean
}

const FIELDS = 'input:not([hidden], [readonly]), select, textarea'

/** Render this only while the dialog is open. */
export function Dialog({ title, onClose, children, footer, size = 'normal', isKept = false }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Open before the next key event, which is meant for the dialog.
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    // Focus the first field, not the close button. React applies `autoFocus` before the dialog is open.
    dialog?.querySelector<HTMLElement>(FIELDS)?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      className={`${styles['dialog']} ${styles[size]}`}
      onCancel={(event) => {
        // The dialog closes when React unmounts it, so that React and the browser agree.
        event.preventDefault()
        if (!isKept) onClose()
      }}
      onKeyDown={(event) => {
        // Chromium closes a dialog on the second Escape, even when `cancel` was prevented.
        if (isKept && event.key === 'Escape') event.preventDefault()
      }}
      onMouseDown={(event) => event.target === ref.current && !isKept && onClose()}
    >
      <div className={styles['frame']}>
        <header className={styles['header']}>
          <h2 id={id}>{title}</h2>
          {!isKept && (
            <Button kind="quiet" size="small" icon="close" aria-label={textsOf('shell').close} onClick={onClose} />
          )}
        </header>
        <div className={styles['body']}>{children}</div>
        {footer != null && <footer className={styles['footer']}>{footer}</footer>}
      </div>
    </dialog>
  )
}
