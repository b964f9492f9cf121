/** Tabs of a form, which are not part of the URL. Arrow keys move between them. */
import { type KeyboardEvent, type ReactNode, useId } from 'react'
import styles from './tabs.module.css'

interface TabListProps {
  label: string
  tabs: readonly { key: string; label: string; isFaulty?: boolean }[]
  chosen: string
  onChoose: (key: string) => void
  /** Shown after the tabs. */
  actions?: ReactNode
  /** Content of the chosen tab. */
  children: ReactNode
}

export function TabList({ label, tabs, chosen, onChoose, actions, children }: TabListProps) {
  const id = useId()
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const at = tabs.findIndex(({ key }) => key === chosen)
    const forward = document.documentElement.dir === 'rtl' ? 'ArrowLeft' : 'ArrowRight'
    const back = forward === 'ArrowLeft' ? 'ArrowRight' : 'ArrowLeft'
    const next = { [forward]: at + 1, [back]: at - 1, Home: 0, End: tabs.length - 1 }[event.key]
    const tab = next === undefined ? undefined : tabs.at(next % tabs.length)
    if (tab === undefined) return
    event.preventDefault()
    onChoose(tab.key)
    document.getElementById(`${id}-${tab.key}`)?.focus()
  }
  return (
    <div>
      <div className={`row ${styles['list']}`}>
        <div role="tablist" aria-label={label} className={styles['bare']} onKeyDown={onKeyDown}>
          {tabs.map(({ key, label: text, isFaulty = false }) => (
            <button
              key={key}
              id={`${id}-${key}`}
              type="button"
              role="tab"
              aria-selected={key === chosen}
              aria-controls={`${id}-panel`}
              tabIndex={key === chosen ? 0 : -1}
              className={`${styles['tab']} ${styles['button']} ${isFaulty ? styles['faulty'] : ''}`}
              onClick={() => onChoose(key)}
            >
              <bdi>{text}</bdi>
            </button>
          ))}
        </div>
        {actions}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`} className={styles['panel']}>
        {children}
      </div>
    </div>
  )
}
