import { useEffect, useId, useState } from 'react'
import { TextField } from '../../parts/form/field.tsx'

interface TypedFieldProps {
  name: string
  label: string
  value: string
  placeholder?: string
  hint?: string
  error?: string | undefined
  suggestions?: readonly string[]
  onChange: (value: string | undefined) => void
}

const DELAY_MS = 400

/** A text field that reports its text shortly after the last keystroke, because each chart is costly. */
export function TypedField({ value, suggestions = [], onChange, ...frame }: TypedFieldProps) {
  const id = useId()
  const [typed, setTyped] = useState(value)
  const [known, setKnown] = useState(value)
  if (known !== value) {
    setKnown(value)
    setTyped(value)
  }
  useEffect(() => {
    if (typed.trim() === value) return
    const timer = setTimeout(() => onChange(typed.trim() || undefined), DELAY_MS)
    return () => clearTimeout(timer)
  })
  return (
    <>
      <TextField
        {...frame}
        value={typed}
        maxLength={200}
        dir="auto"
        spellCheck={false}
        autoComplete="off"
        list={suggestions.length > 0 ? id : undefined}
        onChange={({ target }) => setTyped(target.value)}
      />
      {suggestions.length > 0 && (
        <datalist id={id}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </>
  )
}
