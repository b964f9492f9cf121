/** Buttons, and links that look like buttons. Use one `primary` per view. */
import { createLink } from '@tanstack/react-router'
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import styles from './button.module.css'
import { Icon } from '../value/icon.tsx'
import type { IconName } from '../value/icon-shapes.ts'

interface Look {
  kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  size?: 'normal' | 'small'
  icon?: IconName
  children?: ReactNode
}

const classOf = ({ kind = 'plain', size = 'normal', children }: Look) =>
  [styles['button'], styles[kind], styles[size], children == null && styles['square']].filter(Boolean).join(' ')

type ButtonProps = Look &
  ButtonHTMLAttributes<HTMLButtonElement> & {
    /** Shows the button as busy: it keeps its width and ignores clicks. */
    isPending?: boolean | undefined
    ref?: Ref<HTMLButtonElement>
  }

/** A button without children needs an `aria-label`. */
export function Button({ kind, size, icon, isPending = false, children, onClick, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      title={children == null ? rest['aria-label'] : undefined}
      {...rest}
      // Not `disabled`: the button would lose the focus.
      aria-disabled={isPending || undefined}
      onClick={isPending ? (event) => event.preventDefault() : onClick}
      className={`${classOf({ kind, size, children })}${isPending ? ` ${styles['pending']}` : ''}`}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  )
}

type AnchorProps = Look & AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> }

/** Link to a file or to another site. */
export function AnchorButton({ kind, size, icon, children, ...rest }: AnchorProps) {
  return (
    <a {...rest} className={classOf({ kind, size, children })}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </a>
  )
}

/** Link to a page of the dashboard. */
export const ButtonLink = createLink(AnchorButton)
