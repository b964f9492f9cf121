import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addressKind } from '../../src/outbound/address-kind.ts'

it.each([
  '1.1.1.1',
  '8.8.8.8',
  '11.0.0.1',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450::1',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
])('%s is public', (address) => {
  expect(addressKind(address)).toBe('public')
})

it.each([
  '127.0.0.1',
  '127.255.255.255',
  '::1',
  '0:0:0:0:0:0:0:1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
])('%s is this machine', (address) => {
  expect(addressKind(address)).toBe('loopback')
})

it.each([
  // Any address of this machine, and broadcast addresses.
  '0.0.0.0',
  '::',
  '255.255.255.255',
  // Private addresses, and those of carriers.
  '10.0.0.0',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  'fc00::1',
  'fd12:3456::1',
  // Link-local addresses, and those of metadata services.
  '169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  // Multicast addresses.
  '224.0.0.1',
  '239.255.255.255',
  'ff02::1',
  // The same addresses in other forms: mapped, translated, tunnelled, deprecated.
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::808:808',
  '2002:a00:1::',
  '2001:0:a00:1::',
  '::10.0.0.1',
  'fec0::1',
])('%s is internal', (address) => {
  expect(addressKind(address)).toBe('internal')
})

it('is the same for an IPv4 address in every form', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const kind = addressKind(address)
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
      const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
      for (const form of [`::ffff:${address}`, `::ffff:${tail}`, `0:0:0:0:0:FFFF:${tail}`, `64:ff9b::${tail}`])
        expect([form, addressKind(form)]).toEqual([form, kind])
    }),
  )
})
