import { useEffect, useState } from 'react'

/** Returns the value once it has not changed for `ms` milliseconds. */
export function useLate<Value>(value: Value, ms: number): Value {
  const [late, setLate] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return late
}
