/**
 * Resolves the host of an outbound address once and refuses forbidden addresses. The connection then uses the addresses
 * found here.
 */
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { raceAbort } from '../async/race-abort.ts'
import { type AddressKind, addressKind } from './address-kind.ts'
import type { TargetGuard } from './target-guard.ts'

/** Outbound connections to this address are forbidden. The message contains no resolved address. */
export class RefusedTargetError extends Error {
  override name = 'RefusedTargetError'
}

/** Throws RefusedTargetError when any address of the host is forbidden; rejects when the host is unknown. */
export async function resolveTarget(url: URL, guard: TargetGuard, signal: AbortSignal): Promise<LookupAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  if (guard.stores.has(`${url.hostname}:${port}`)) throw refusal(host, ownPort(port))
  const family = isIP(host)
  const found = family ? [{ address: host, family }] : await raceAbort(lookup(host, { all: true }), signal)
  for (const { address } of found) {
    const fault = await findFault(address, port, guard)
    if (fault !== null) throw refusal(host, fault)
  }
  return found
}

const refusal = (host: string, fault: string): RefusedTargetError =>
  new RefusedTargetError(`${host} is not allowed as a target: ${fault}`)

const ownPort = (port: number): string => `port ${port} belongs to this installation`

async function findFault(address: string, port: number, guard: TargetGuard): Promise<string | null> {
  const kind = addressKind(address)
  if (guard.ownPorts.has(port) && isThisMachine(address, kind)) return ownPort(port)
  if (kind === 'internal') return 'its address is private, link-local or reserved'
  return kind === 'loopback' ? guard.refusesLoopback() : null
}

function isThisMachine(address: string, kind: AddressKind): boolean {
  if (kind === 'loopback') return true
  return Object.values(networkInterfaces()).some((addresses) => addresses?.some((own) => own.address === address))
}
