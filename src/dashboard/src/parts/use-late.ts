import { useEffect, useState } from 'react'

/** The value, once it has not changed for `ms`. */
export function useLate<Value>(value: Value, ms: number): Value {
  const [late, setLate] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return late
}
