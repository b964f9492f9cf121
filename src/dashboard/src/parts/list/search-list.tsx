/** A search field with grouped results: a combobox and its list. */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { Icon } from '../value/icon.tsx'
import type { IconName } from '../value/icon-shapes.ts'
import styles from './search-list.module.css'

export interface SearchOption {
  key: string
  icon?: IconName
  label: string
  /** Grey text after the label. */
  detail?: string | undefined
}

export interface SearchGroup<Choice extends SearchOption> {
  title: string
  options: readonly Choice[]
}

export interface SearchListProps<Choice extends SearchOption> {
  /** Name of the search field and of the list, read aloud. */
  label: string
  placeholder: string
  wanted: string
  onSearch: (wanted: string) => void
  groups: readonly SearchGroup<Choice>[]
  /** True while the groups are still those of an earlier search. */
  isStale?: boolean
  /** Shown when there are no options. */
  none: string
  /** Shown after the text of the search. */
  hint?: ReactNode
  onChoose: (choice: Choice) => void
}

export function SearchList<Choice extends SearchOption>(props: SearchListProps<Choice>) {
  const { label, placeholder, wanted, onSearch, groups, isStale = false, none, hint, onChoose } = props
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const isEntered = useRef(false)
  const shown = groups.filter(({ options }) => options.length > 0)
  const options = shown.flatMap((group) => group.options)
  const at = Math.min(active, options.length - 1)
  const selected = options[at]
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  // A person who types and presses Enter at once means the coming results, not those still shown.
  useEffect(() => {
    if (!isEntered.current || isStale) return
    isEntered.current = false
    if (selected !== undefined) onChoose(selected)
  })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter' && isStale) isEntered.current = true
    else if (event.key === 'Enter' && selected !== undefined) onChoose(selected)
    else if (event.key === 'ArrowDown') setActive((at + 1) % Math.max(1, options.length))
    else if (event.key === 'ArrowUp') setActive((at - 1 + options.length) % Math.max(1, options.length))
    else if (event.key !== 'Enter') return
    event.preventDefault()
  }
  return (
    <>
      <div className={styles['search']}>
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={label}
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={selected && `${id}-${at}`}
          aria-autocomplete="list"
          autoComplete="off"
          autoFocus
          spellCheck={false}
          dir="auto"
          placeholder={placeholder}
          value={wanted}
          onChange={(event) => {
            onSearch(event.target.value)
            setActive(0)
            isEntered.current = false
          }}
          onKeyDown={onKeyDown}
        />
        {hint}
      </div>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label={label} className={styles['list']}>
        {shown.map((group) => (
          <div key={group.title} role="group" aria-label={group.title}>
            <div className={styles['title']} aria-hidden="true">
              {group.title}
            </div>
            {group.options.map((option) => {
              const index = options.indexOf(option)
              return (
                <div
                  key={option.key}
                  id={`${id}-${index}`}
                  role="option"
                  aria-selected={index === at}
                  className={styles['option']}
                  onMouseMove={() => setActive(index)}
                  onClick={() => onChoose(option)}
                >
                  {option.icon !== undefined && <Icon name={option.icon} />}
                  <bdi className={styles['label']}>{option.label}</bdi>
                  {option.detail !== undefined && <bdi className={styles['detail']}>{option.detail}</bdi>}
                </div>
              )
            })}
          </div>
        ))}
      </div>
      <p role="status" className={styles['none']}>
        {options.length === 0 && none}
      </p>
    </>
  )
}
