/** A button with a list of actions, in a native popover. Arrow keys move through the list. */
import type { KeyboardEvent, ReactNode } from 'react'
import { Icon } from '../value/icon.tsx'
import type { IconName } from '../value/icon-shapes.ts'
import styles from './menu.module.css'
import { usePopover } from './use-popover.ts'

interface MenuProps {
  /** Content of the button. */
  children: ReactNode
  /** Name of the button and of the list, read aloud. */
  label: string
  items: readonly MenuItem[]
  /** Class of the button. */
  className?: string | undefined
}

export interface MenuItem {
  label: string
  icon?: IconName
  /** Marks the selected item. */
  isChosen?: boolean
  isDangerous?: boolean
  onSelect: () => void
}

export function Menu({ children, label, items, className }: MenuProps) {
  const { close, opener, popover } = usePopover()
  const isChoice = items.some(({ isChosen }) => isChosen !== undefined)
  const first = items.find(({ isChosen }) => isChosen) ?? items[0]
  return (
    <>
      <button
        {...opener}
        type="button"
        className={className ?? styles['opener']}
        aria-label={label}
        title={label}
        aria-haspopup="menu"
      >
        {children}
      </button>
      <div {...popover} role="menu" aria-label={label} className={styles['menu']} onKeyDown={walk}>
        {items.map(({ label: text, icon, isChosen, isDangerous, onSelect }) => (
          <button
            key={text}
            type="button"
            role={isChoice ? 'menuitemradio' : 'menuitem'}
            aria-checked={isChoice ? isChosen === true : undefined}
            tabIndex={-1}
            autoFocus={text === first?.label}
            className={`${styles['item']} ${isDangerous ? styles['danger'] : ''}`}
            onClick={() => {
              close()
              onSelect()
            }}
          >
            {icon !== undefined && <Icon name={icon} />}
            <span className={styles['text']}>{text}</span>
            {isChosen && <Icon name="check" />}
          </button>
        ))}
      </div>
    </>
  )
}

function walk(event: KeyboardEvent<HTMLElement>): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[role^=menuitem]')]
  const at = items.indexOf(document.activeElement as HTMLElement)
  const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key]
  if (event.key === 'Tab') event.currentTarget.hidePopover()
  if (next === undefined) return
  event.preventDefault()
  items.at(next % items.length)?.focus()
}
