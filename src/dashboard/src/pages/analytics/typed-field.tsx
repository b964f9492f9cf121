import { useEffect, useState } from 'react'
import { TextField } from '../../parts/field.tsx'

interface TypedFieldProps {
  name: string
  label: string
  value: string
  onChange: (value: string | undefined) => void
}

const DELAY_MS = 400

/** Text that counts shortly after the last letter: each chart costs. */
export function TypedField({ name, label, value, onChange }: TypedFieldProps) {
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
    <TextField
      name={name}
      label={label}
      value={typed}
      maxLength={200}
      dir="auto"
      spellCheck={false}
      autoComplete="off"
      onChange={({ target }) => setTyped(target.value)}
    />
  )
}
