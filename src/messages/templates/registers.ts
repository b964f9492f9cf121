import type { Context } from 'liquidjs'

/** What a rendering knows besides its values. */
export interface Registers {
  /** Epoch milliseconds. */
  now: number
  /** Of the variant. */
  language: string
  /** Of the business. */
  currency: string
}

export const registerOf = <Name extends keyof Registers>(context: Context, name: Name): Registers[Name] =>
  context.getRegister<Registers[Name]>(name)

export function setRegisters(context: Context, registers: Registers): void {
  for (const [name, value] of Object.entries(registers)) context.setRegister(name, value)
}
