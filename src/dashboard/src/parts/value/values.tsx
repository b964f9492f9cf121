/** Values for the reader: times in their zone with UTC on hover, numbers and money in their locale. */
import { useEffect, useState } from 'react'
import {
  formatAgo,
  formatClock,
  formatCompact,
  formatDay,
  formatMoney,
  formatNumber,
  formatTime,
  formatUtc,
} from '../../format.ts'

interface TimeProps {
  /** ISO 8601, or epoch ms. */
  at: string | number
  /** `ago` is relative to the present; `clock` is the time of day, with seconds. */
  as?: 'time' | 'day' | 'ago' | 'clock'
}

const FORMATS = { time: formatTime, day: formatDay, clock: formatClock }

export function Time({ at, as = 'time' }: TimeProps) {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <span>{at}</span>
  return (
    <time dateTime={date.toISOString()} title={formatUtc(date)} className="numeric">
      {as === 'ago' ? <Ago at={date} /> : FORMATS[as](date)}
    </time>
  )
}

const TICK_MS = 30_000

function Ago({ at }: { at: Date }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  // A clock that is behind the server's must not show a time in the future.
  return formatAgo(at, Math.max(now, at.getTime()))
}

/** `isShort`: 1.2M, with the exact number on hover. */
export function Num({ value, isShort = false }: { value: number; isShort?: boolean }) {
  const exact = formatNumber(value)
  return (
    <span className="numeric" title={isShort ? exact : undefined}>
      {isShort ? formatCompact(value) : exact}
    </span>
  )
}

export function Money({ amount, currency }: { amount: number; currency: string }) {
  return <span className="numeric">{formatMoney(amount, currency)}</span>
}
