/** A button with a list that one searches: a combobox in a native popover. */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { textsOf } from '../texts/index.ts'
import { Button } from './button.tsx'
import type { IconName } from './icon.tsx'
import { Icon } from './icon.tsx'
import styles from './picker.module.css'
import { placePopover } from './place-popover.ts'

export interface PickerOption {
  key: string
  label: string
  /** Behind the label, in grey. */
  detail?: string | undefined
}

export interface PickerGroup<Choice extends PickerOption> {
  title: string
  options: readonly Choice[]
}

interface PickerProps<Choice extends PickerOption> {
  /** What the button shows. */
  children: ReactNode
  /** The name of the list, read aloud. */
  label: string
  placeholder: string
  icon?: IconName
  size?: 'normal' | 'small'
  kind?: 'plain' | 'quiet'
  /** Marks the button for those who look for the focus. */
  focusKey?: string
  wanted: string
  onSearch: (wanted: string) => void
  groups: readonly PickerGroup<Choice>[]
  isLoading?: boolean
  /** The groups are still those of an earlier search. */
  isStale?: boolean
  onChoose: (choice: Choice) => void
}

export function Picker<Choice extends PickerOption>(props: PickerProps<Choice>) {
  const { children, label, icon, size, kind, focusKey } = props
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const popover = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)
  // Before the next key: it belongs to the search.
  useLayoutEffect(() => {
    if (!isOpen || popover.current === null || button.current === null) return
    placePopover(popover.current, button.current)
    popover.current.querySelector('input')?.focus()
  }, [isOpen])
  return (
    <>
      <Button
        ref={button}
        icon={icon}
        size={size}
        kind={kind}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        data-focus={focusKey}
        popoverTarget={id}
      >
        {children}
      </Button>
      <div
        ref={popover}
        id={id}
        popover="auto"
        role="dialog"
        aria-label={label}
        className={styles['popover']}
        onToggle={(event) => {
          setOpen(event.newState === 'open')
          props.onSearch('')
        }}
      >
        {isOpen && <Search {...props} onClose={() => popover.current?.hidePopover()} />}
      </div>
    </>
  )
}

type SearchProps<Choice extends PickerOption> = PickerProps<Choice> & { onClose: () => void }

function Search<Choice extends PickerOption>(props: SearchProps<Choice>) {
  const { label, placeholder, wanted, onSearch, groups, onChoose, onClose } = props
  const { isLoading = false, isStale = false } = props
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
  const choose = (option: Choice | undefined) => {
    if (option === undefined) return
    // First: closing gives the focus back to the button, and the choice may move it on.
    onClose()
    onChoose(option)
  }
  // Who types and presses Enter at once means what will be found, and not what is still shown.
  useEffect(() => {
    if (!isEntered.current || isStale) return
    isEntered.current = false
    choose(selected)
  })
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    if (event.key === 'Enter' && isStale) isEntered.current = true
    else if (event.key === 'Enter') choose(selected)
    else if (event.key === 'ArrowDown') setActive((at + 1) % Math.max(1, options.length))
    else if (event.key === 'ArrowUp') setActive((at - 1 + options.length) % Math.max(1, options.length))
    else return
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
                  onClick={() => choose(option)}
                >
                  <bdi className={styles['label']}>{option.label}</bdi>
                  {option.detail !== undefined && <bdi className={styles['detail']}>{option.detail}</bdi>}
                </div>
              )
            })}
          </div>
        ))}
      </div>
      <p role="status" className={styles['none']}>
        {options.length === 0 && (isLoading ? textsOf('shell').loading : textsOf('shell').palette.none)}
      </p>
    </>
  )
}
