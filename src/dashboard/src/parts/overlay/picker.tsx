/** A button that opens a searchable list in a popover. */
import type { ReactNode } from 'react'
import { textsOf } from '../../texts/index.ts'
import { Button } from '../action/button.tsx'
import type { IconName } from '../value/icon-shapes.ts'
import styles from './picker.module.css'
import { SearchList, type SearchListProps, type SearchOption } from '../list/search-list.tsx'
import { usePopover } from './use-popover.ts'

interface PickerProps<Choice extends SearchOption> extends Omit<SearchListProps<Choice>, 'none' | 'hint'> {
  /** Content of the button. */
  children: ReactNode
  icon?: IconName
  size?: 'normal' | 'small'
  kind?: 'plain' | 'quiet'
  /** Marks the button, so that code that moves the focus can find it. */
  focusKey?: string
  isLoading?: boolean
}

export function Picker<Choice extends SearchOption>(props: PickerProps<Choice>) {
  const { children, icon, size, kind, focusKey, isLoading = false, ...search } = props
  const texts = textsOf('shell')
  const { isOpen, close, opener, popover } = usePopover()
  return (
    <>
      <Button {...opener} icon={icon} size={size} kind={kind} aria-haspopup="dialog" data-focus={focusKey}>
        {children}
      </Button>
      <div
        {...popover}
        role="dialog"
        aria-label={search.label}
        className={styles['popover']}
        onBeforeToggle={(event) => {
          search.onSearch('')
          popover.onBeforeToggle(event)
        }}
      >
        {isOpen && (
          <SearchList
            {...search}
            none={isLoading ? texts.loading : texts.palette.none}
            onChoose={(choice) => {
              // Close first: closing returns the focus to the button, and `onChoose` may move it on.
              close()
              search.onChoose(choice)
            }}
          />
        )}
      </div>
    </>
  )
}
