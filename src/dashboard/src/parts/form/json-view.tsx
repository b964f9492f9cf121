/** A value as JSON that a person can edit. While the text cannot be parsed, the value does not change. */
import { type ReactNode, useState } from 'react'
import { Copy } from '../value/code.tsx'
import { TextAreaField } from './field.tsx'

interface JsonViewProps<T> {
  name: string
  label: string
  hint?: string
  rows: number
  value: T
  /** Said before what is wrong with the text. */
  invalid: string
  /** What the server said of the value. */
  error?: string | undefined
  /** Returns why the JSON is no such value. */
  refuse?: (value: unknown) => string | undefined
  onChange: (value: T) => void
  /** Reports with each change whether the text is faulty. */
  onFault?: (isFaulty: boolean) => void
  /** False without the button that copies the text. */
  canCopy?: boolean
  /** Stands between the field and that button. */
  children?: ReactNode
}

export function JsonView<T>(props: JsonViewProps<T>) {
  const { value, invalid, error, refuse, onChange, onFault, canCopy = true, children, ...field } = props
  const [typed, setTyped] = useState(() => textOf(value))
  const read = readJson<T>(typed, refuse)
  // The value was changed elsewhere, for example because the draft was discarded.
  const isOther = 'value' in read && JSON.stringify(read.value) !== JSON.stringify(value)
  const shown = isOther ? textOf(value) : typed
  return (
    <>
      <TextAreaField
        {...field}
        dir="ltr"
        spellCheck={false}
        value={shown}
        error={'fault' in read ? `${invalid} ${read.fault}` : error}
        onChange={({ target }) => {
          setTyped(target.value)
          const next = readJson<T>(target.value, refuse)
          onFault?.('fault' in next)
          if ('value' in next) onChange(next.value)
        }}
      />
      {children}
      {canCopy && (
        <div className="row">
          <Copy what={shown} />
        </div>
      )}
    </>
  )
}

const textOf = (value: unknown): string => JSON.stringify(value, null, 2)

function readJson<T>(text: string, refuse: JsonViewProps<T>['refuse']): { value: T } | { fault: string } {
  try {
    const value = JSON.parse(text) as T
    const fault = refuse?.(value)
    return fault === undefined ? { value } : { fault }
  } catch (error) {
    return { fault: (error as Error).message }
  }
}
